// SPDX-License-Identifier: MIT
// How many calls each has in a race: one rank, and a clock that passes in calls and by being looked at alone.
#include "measure/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "chasqui/threads/team.hpp"

namespace chasqui::measure {
namespace {

/// Contestants whose calls take as long as they are told.
class Calls {
 public:
  /// `time(k)`: nanoseconds of the k-th call, from 0 on.
  void add(std::function<double(int)> time, double expected) {
    made_.push_back(0);
    contestants_.push_back({[] {},
                            [this, time = std::move(time), i = made_.size() - 1](const run::Call&) {
                              now_ += time(made_[i]++);
                              return true;
                            },
                            expected});
  }
  std::vector<Raced> race(const RaceOptions& options) {
    std::vector<Raced> found;
    threads::Team team(1);
    team.run([&](run::Comm& comm) {
      CommonStart start(
          comm, [this] { return now_ += 20; }, false);
      found = measure::race(comm, start, Kind::barrier, 0, contestants_, options);
    });
    return found;
  }
  int made(std::size_t i) const { return made_[i]; }

 private:
  double now_ = 0;
  std::vector<Contestant> contestants_;
  std::vector<int> made_;
};

constexpr RaceOptions kOptions{
    .precious = 300e3, .few = 3, .rounds = 9, .time = 2e6, .most = 8, .near = 1.1, .settled = 0.01};

/// Nobody knows what a default does; it was given up for what it was thought to take, after one call, a cold one.
TEST(Race, WhatIsExpectedIsNoVerdict) {
  for (const double time : {5e3, 500e3}) {
    Calls calls;
    calls.add([&](int) { return time; }, time);
    calls.add([&](int) { return 0.8 * time; }, 20 * time);
    const auto found = calls.race(kOptions);
    EXPECT_GE(calls.made(1), 3);
    EXPECT_EQ(calls.made(0), calls.made(1));
    EXPECT_NEAR(found[1].times.low, 0.8 * time, 0.05 * time);
  }
}

TEST(Race, FirstCallsOfShortOnesDoNotCount) {
  Calls calls;
  for (int i = 0; i < 2; ++i) calls.add([](int k) { return k == 0 ? 40e3 : 4e3; }, 100e3);
  for (const Raced& one : calls.race(kOptions))
    EXPECT_LT(*std::max_element(one.times.spans.begin(), one.times.spans.end()), 5e3);
  EXPECT_EQ(calls.made(0), 2 + 3 * 8);  // two are warm, and the others are known well enough
}

TEST(Race, LongOnesAllCount) {
  Calls calls;
  for (int i = 0; i < 2; ++i) calls.add([](int) { return 2e6; }, 2e6);
  calls.race(kOptions);
  EXPECT_EQ(calls.made(0), 3);
}

TEST(Race, MoreRoundsWhereTimesScatter) {
  for (const double time : {5e3, 2e6}) {
    const int more = time < 300e3 ? 8 : 1, warm = time < 300e3 ? 2 : 0;
    Calls calls;
    const auto scattered = [&](int k) { return time * (1 + 0.2 * (k * 7 % 10)); };
    for (int i = 0; i < 2; ++i) calls.add(scattered, time);
    calls.add([&](int k) { return 2 * scattered(k); }, time);
    calls.race(kOptions);
    EXPECT_EQ(calls.made(0), warm + 9 * more);
    EXPECT_EQ(calls.made(1), warm + 9 * more);
    EXPECT_EQ(calls.made(2), warm + 3 * more);  // too slow, however often it runs
  }
}

TEST(Race, WhoIsFastestAloneNeedsNoMore) {
  Calls calls;
  calls.add([&](int k) { return 1e6 * (1 + 0.2 * (k * 7 % 10)); }, 1e6);
  calls.add([&](int) { return 3e6; }, 1e6);
  calls.race(kOptions);
  EXPECT_EQ(calls.made(0), 3);
}

TEST(Race, WhoIsFarBehindHasTheFewCallsOnly) {
  Calls calls;
  calls.add([](int) { return 4e3; }, 4e3);
  calls.add([](int) { return 40e3; }, 4e3);
  calls.race(kOptions);
  EXPECT_EQ(calls.made(0), 2 + 3 * 8);
  EXPECT_EQ(calls.made(1), 1 + 3);
}

}  // namespace
}  // namespace chasqui::measure
