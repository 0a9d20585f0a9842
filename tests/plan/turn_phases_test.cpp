// SPDX-License-Identifier: MIT
// Turns of an exchange: which are possible is what looking at every rank says, and every way to plan them is taken somewhere.
#include "plan/clusters/exchange/turn_phases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "plan/cluster_samples.hpp"
#include "plan/clusters/exchange/turn_groups.hpp"

namespace chasqui::plan {
namespace {

bool contains(const TurnRanges& ranges, std::int64_t u) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const TurnRange& r) { return r.first <= u && u < r.end; });
}

/// Does no rank receive in turn u while it sends?
bool every_rank_can(std::int64_t o, std::int64_t length, std::int64_t phase, const Clocks& clocks, bool backwards,
                    std::int64_t u) {
  const std::int64_t n = clocks.n;
  for (std::int64_t x = 0; x < n; ++x) {
    const std::int64_t y = (x + u) % n;
    const std::int64_t sender = clocks.offset(backwards ? (n - x) % n : x);
    const std::int64_t receiver = clocks.offset(backwards ? (n - y) % n : y);
    const std::int64_t begin = modulo(phase + sender - receiver, length);
    if (o > 0 && (begin < o || begin > length - o)) return false;
  }
  return true;
}

/// Clocks are rounded to whole ticks, up at some ranks and down at others: turns are called impossible if one rounding is.
RC_GTEST_PROP(TurnPhases, AsEveryRankSays, ()) {
  const std::int64_t o = any_of(0, 9), length = std::max<std::int64_t>(1, 2 * o) + any_of(0, 60), n = any_of(1, 30);
  const Clocks clocks{n, any_of(0, length)};
  const std::int64_t phase = any_of(0, 300);
  const bool whole = clocks.span % n == 0;
  for (const bool backwards : {false, true}) {
    const TurnRanges turns = TurnPhases(o, length, phase, clocks).possible({{0, n}}, backwards);
    for (std::int64_t u = 0; u < n; ++u) {
      const bool can = every_rank_can(o, length, phase, clocks, backwards, u);
      RC_ASSERT(!contains(turns, u) || can);
      if (whole) RC_ASSERT(contains(turns, u) == can);
    }
  }
}

RC_GTEST_PROP(TurnGroups, EveryTurnOnce, ()) {
  LogP base{1, Time{any_of(0, 300)}, Time{any_of(0, 9)}, Time{any_of(1, 20)}};
  if (base.lambda() == Time{0}) base.L = Time{1};
  const Time gamma{any_of(0, base.gap().ticks)};
  const Cluster c = Cluster::uniform(9, any_of(1, 50), base, gamma, Time{0}, Time{0});
  const TurnGroups turns = turn_groups(c, {.kind = Kind::alltoall}, any_of(1, 1000));
  std::vector<int> seen(static_cast<std::size_t>(c.nodes.largest()), 0);
  for (const TurnGroup& group : turns.groups) {
    for (const TurnRange& range : group.turns) {
      for (std::int64_t u = range.first; u < range.end; ++u) ++seen[static_cast<std::size_t>(u)];
    }
  }
  RC_ASSERT(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

/// Batches, clocks near to each other, all over the step and in another order, a pause between turns: all of them are best somewhere.
TEST(TurnGroups, EveryWayIsTaken) {
  bool batches = false, near = false, spread = false, reordered = false, pauses = false, several = false;
  for (std::int64_t n = 2; n <= 20; ++n) {
    for (const std::int64_t L : {3, 17, 400}) {
      for (const std::int64_t g : {4, 9, 40}) {
        const Cluster c = Cluster::uniform(1000, n, {1, Time{L}, Time{4}, Time{g}}, Time{1}, Time{1}, Time{1});
        const TurnGroups turns = turn_groups(c, {.kind = Kind::alltoall}, 999);
        several = several || turns.groups.size() > 1;
        for (const TurnGroup& group : turns.groups) {
          batches = batches || group.batch != kSaturated;
          near = near || group.clocks.span == n;
          spread = spread || group.clocks.span == group.length;
          reordered = reordered || (group.multiplier != 1 && group.multiplier != n - 1);
          pauses = pauses || group.steps > 999;
        }
      }
    }
  }
  EXPECT_TRUE(batches);
  EXPECT_TRUE(near);
  EXPECT_TRUE(spread);
  EXPECT_TRUE(reordered);
  EXPECT_TRUE(pauses);
  EXPECT_TRUE(several);
}

}  // namespace
}  // namespace chasqui::plan
