// SPDX-License-Identifier: MIT
// The comparison with the MPI library, on a clock of our own: verdicts follow what is seen, wrong ones are corrected,
// and looking again stays cheap.
#include "preload/race.hpp"

#include <gtest/gtest.h>

#include <functional>

using namespace chasqui::preload;

namespace {

struct Played {
  Race race;
  std::uint64_t calls = 0, ours = 0;
  double time = 0;  ///< of all calls

  /// `count` calls that would take `mine(n)` or `theirs(n)` nanoseconds, n being the number of the call.
  void play(std::uint64_t count, std::uint32_t trials, const std::function<double(std::uint64_t)>& mine,
            const std::function<double(std::uint64_t)>& theirs) {
    for (std::uint64_t i = 0; i < count; ++i, ++calls) {
      const Turn turn = next_turn(race, trials);
      const bool by_us = turn == Turn::ours || turn == Turn::try_ours;
      const double took = by_us ? mine(calls) : theirs(calls);
      ours += by_us ? 1 : 0;
      time += took;
      if (turn != Turn::try_ours && turn != Turn::try_native) continue;
      saw(race, turn, took, trials);
      if (complete(race, trials)) conclude(race, typical(race.ours_seen), typical(race.native_seen), trials);
    }
  }
};

double fast(std::uint64_t) { return 1000; }
double slow(std::uint64_t) { return 5000; }

}  // namespace

TEST(Comparison, TakesTheFasterOne) {
  Played a, b;
  a.play(500, 6, fast, slow);
  EXPECT_EQ(a.race.verdict, Verdict::ours);
  EXPECT_EQ(a.ours, 500u - 6);
  b.play(500, 6, slow, fast);
  EXPECT_EQ(b.race.verdict, Verdict::native);
  EXPECT_EQ(b.ours, 6u);
}

TEST(Comparison, EqualTimesGoToTheMpiLibrary) {
  Played a;
  a.play(100, 6, fast, fast);
  EXPECT_EQ(a.race.verdict, Verdict::native);
}

TEST(Comparison, OneLateCallDoesNotDecide) {
  Played a;
  a.play(
      100, 6, [](std::uint64_t n) { return n == 5 ? 1e9 : 1000.0; }, slow);
  EXPECT_EQ(a.race.verdict, Verdict::ours);
}

TEST(Comparison, AWrongFirstVerdictIsCorrected) {
  Played a;  // the machine was busy with something else during the first comparison
  const auto disturbed = [](std::uint64_t n) { return n < 100 ? 50000.0 : 1000.0; };
  a.play(100, 6, disturbed, slow);
  ASSERT_EQ(a.race.verdict, Verdict::native);
  a.play(1'000'000, 6, disturbed, slow);
  EXPECT_EQ(a.race.verdict, Verdict::ours);
  EXPECT_GT(a.ours, 900'000u);
  Played b;
  const auto lucky = [](std::uint64_t n) { return n < 100 ? 500.0 : 20000.0; };
  b.play(100, 6, lucky, fast);
  ASSERT_EQ(b.race.verdict, Verdict::ours);
  b.play(100'000, 6, lucky, fast);
  EXPECT_EQ(b.race.verdict, Verdict::native);
}

TEST(Comparison, APredictionIsCorrectedToo) {
  Played a;
  a.race.verdict = Verdict::native;  // what a stored profile said
  a.play(599, 6, fast, slow);
  EXPECT_EQ(a.race.comparisons, 0u);
  a.play(1000, 6, fast, slow);
  EXPECT_EQ(a.race.verdict, Verdict::ours);
}

TEST(Comparison, LookingAgainCostsAHundredth) {
  for (const double ratio : {1.0, 3.0, 100.0, 1e5}) {
    Played a;
    const auto mine = [ratio](std::uint64_t) { return 1000 * ratio; };
    a.play(12, 6, mine, fast);  // the first comparison has to be paid
    const double first = a.time;
    const std::uint64_t calls = 3'000'000;
    a.play(calls, 6, mine, fast);
    EXPECT_LE(a.time - first, 1000.0 * static_cast<double>(calls) * (1 + 2 * kShare)) << ratio;
    EXPECT_LE(a.race.comparisons, 9u) << ratio;  // 1 + log_4 of calls / 600
    EXPECT_NEAR(a.race.spent, 1000 * (ratio - 1) * 6 * a.race.comparisons, 1e-6 * a.race.spent + 1);
  }
}

TEST(Comparison, RanksThatSeeDifferentTimesTakeTheSameTurns) {
  Race a, b;  // they agree on the larger of their medians
  for (int i = 0; i < 100'000; ++i) {
    const Turn x = next_turn(a, 6), y = next_turn(b, 6);
    ASSERT_EQ(x, y) << i;
    if (x == Turn::ours || x == Turn::native) continue;
    saw(a, x, 1000 + i % 7, 6);
    saw(b, y, x == Turn::try_ours ? 100 : 3000, 6);
    if (!complete(a, 6)) continue;
    ASSERT_TRUE(complete(b, 6));
    const double ours = std::max(typical(a.ours_seen), typical(b.ours_seen));
    const double native = std::max(typical(a.native_seen), typical(b.native_seen));
    conclude(a, ours, native, 6);
    conclude(b, ours, native, 6);
  }
  EXPECT_GT(a.comparisons, 2u);
}

TEST(Comparison, NoTrialsMeansAlwaysOurs) {
  Race race;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next_turn(race, 0), Turn::ours);
}
