// SPDX-License-Identifier: MIT
// What all calls took, from those that are timed: against the sum of all of them.
#include "preload/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace chasqui::preload {
namespace {

struct Seen {
  double truth = 0, said = 0;
  std::uint64_t timed = 0;
};

/// So many calls, each of which takes time(call); a clock that takes `read` is read.
template <typename Time>
Seen seen(std::uint64_t calls, std::uint64_t seed, double read, const Time& time) {
  TimesSampled sample;
  sample.begin(seed);
  Seen all;
  for (std::uint64_t made = 0; made < calls; ++made) {
    const double took = time(made);
    all.truth += took;
    if (sample.due(made)) sample.add(took + (made < TimesSampled::kFirst ? 0 : read), made);
  }
  all.said = sample.estimate(calls, read);
  all.timed = sample.timed();
  return all;
}

TEST(TimesSampled, AreAllOfFewCalls) {
  for (std::uint64_t calls = 0; calls <= TimesSampled::kFirst; ++calls) {
    const Seen few = seen(calls, 1, 25, [](std::uint64_t call) { return 1000.0 / (1.0 + static_cast<double>(call)); });
    EXPECT_EQ(few.timed, calls);
    EXPECT_DOUBLE_EQ(few.said, few.truth);
  }
}

TEST(TimesSampled, AreNoneBeforeTheBegin) {
  const TimesSampled sample;
  for (const std::uint64_t made : {std::uint64_t{0}, std::uint64_t{1} << 40}) EXPECT_FALSE(sample.due(made));
  EXPECT_EQ(sample.estimate(100, 25), 0);
}

TEST(TimesSampled, AreOneOfSixtyFour) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Seen many = seen(64'016, seed, 25, [](std::uint64_t) { return 200.0; });
    EXPECT_NEAR(static_cast<double>(many.timed), 1016, 1) << seed;
    EXPECT_DOUBLE_EQ(many.said, many.truth) << seed;
  }
}

/// The first calls on a communicator take long: they stand for none of the others.
TEST(TimesSampled, OfTheFirstCallsStandForThemselves) {
  const Seen dear = seen(10'000, 3, 25, [](std::uint64_t call) { return call < TimesSampled::kFirst ? 1e6 : 200.0; });
  EXPECT_DOUBLE_EQ(dear.said, dear.truth);
}

/// One of so many calls takes 20 times as long: it waits for ranks that come late, or for room on the board.
TEST(TimesSampled, KeepNoStepWithTheProgram) {
  for (const std::uint64_t rhythm : {2u, 7u, 8u, 16u, 32u, 64u, 128u}) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const double share = 1 / static_cast<double>(rhythm);
      const Seen many =
          seen(200'000, seed, 25, [&](std::uint64_t call) { return call % rhythm == 5 % rhythm ? 4000.0 : 200.0; });
      const double deviation = 3800 * std::sqrt(share * (1 - share) / (200'000.0 / TimesSampled::kOneOf));
      EXPECT_NEAR(many.said / 2e5, many.truth / 2e5, 5 * deviation) << rhythm << ' ' << seed;
    }
  }
}

TEST(TimesSampled, AreAnyOfTheCalls) {
  std::set<std::uint64_t> places;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    TimesSampled sample;
    sample.begin(seed);
    for (std::uint64_t made = 0; made < 64'000; ++made) {
      if (!sample.due(made)) continue;
      sample.add(1, made);
      places.insert(made % TimesSampled::kOneOf);
    }
  }
  EXPECT_EQ(places.size(), TimesSampled::kOneOf);
}

/// Other calls of the race are timed one by one and do not ask: the sample goes on behind them.
TEST(TimesSampled, GoOnBehindCallsThatDoNotAsk) {
  TimesSampled sample;
  sample.begin(9);
  std::uint64_t asked = 0;
  for (std::uint64_t made = 0; made < 100'000; ++made) {
    if (made % 2000 < 1000) continue;
    ++asked;
    if (sample.due(made)) sample.add(300, made);
  }
  EXPECT_NEAR(static_cast<double>(sample.timed()), 16 + (static_cast<double>(asked) - 16) / 64, 60);
  EXPECT_NEAR(sample.estimate(asked, 0), 300.0 * static_cast<double>(asked), 1);
}

}  // namespace
}  // namespace chasqui::preload
