// SPDX-License-Identifier: MIT
#include "chasqui/simulate/monte_carlo.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../sanitized.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/broadcast.hpp"

namespace chasqui::simulate {
namespace {

const LogP kMachine = LogP::postal(50, Time{9});

Statistics run(unsigned threads, std::uint64_t seed) {
  const auto latency = [](std::uint64_t s) { return uniform(kMachine, Time{1}, Time{9}, s); };
  return monte_carlo(plan::broadcast(kMachine)->schedule(), latency,
                     {.runs = 200, .seed = seed, .threads = threads, .progress = {}},
                     {.mode = Mode::event_driven, .order = {}, .stragglers = {}});
}

TEST(MonteCarlo, TheResultDependsOnTheSeedAloneNotOnTheThreads) {
  const Statistics one = run(1, 5);
  EXPECT_EQ(one.finishes, run(3, 5).finishes);
  EXPECT_NE(one.finishes, run(3, 6).finishes);
}

void ask_for_too_many() {
  const rlimit memory{rlim_t{600} << 20, rlim_t{600} << 20};
  setrlimit(RLIMIT_AS, &memory);
  _exit(run(200, 5).finishes == run(1, 5).finishes ? 3 : 1);
}

TEST(MonteCarlo, ThreadsThatTheSystemRefusesAreDoneWithout) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the memory that this test forbids";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_for_too_many(), testing::ExitedWithCode(3), "");
}

TEST(MonteCarlo, QuantilesAreOrderedAndWithinTheRange) {
  const Statistics statistics = run(2, 1);
  EXPECT_EQ(statistics.quantile(0), statistics.least());
  EXPECT_EQ(statistics.quantile(1), statistics.most());
  EXPECT_LE(statistics.quantile(0.25), statistics.quantile(0.5));
  EXPECT_LT(statistics.least(), statistics.most());
  EXPECT_GT(statistics.mean(), static_cast<double>(statistics.least().ticks));
  Statistics small{{Time{1}, Time{2}, Time{3}, Time{4}}};
  EXPECT_EQ(small.quantile(0.5), Time{2});
  EXPECT_EQ(small.quantile(0.51), Time{3});
  EXPECT_EQ(small.mean(), 2.5);
}

TEST(MonteCarlo, ErrorsReachTheCaller) {
  EXPECT_THROW(monte_carlo(plan::broadcast(kMachine)->schedule(), {}, {.runs = 0, .progress = {}}), Error);
  const auto bad = [](std::uint64_t) -> Latency { throw Error("no latency"); };
  EXPECT_THROW(monte_carlo(plan::broadcast(kMachine)->schedule(), bad, {.runs = 10, .threads = 2, .progress = {}}),
               Error);
}

}  // namespace
}  // namespace chasqui::simulate
