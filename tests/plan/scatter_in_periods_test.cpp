// SPDX-License-Identifier: MIT
// Scatter and gather in periods (clusters.md, Theorem 27): legal on random clusters, as long as claimed, and found for one rank among 10^9.
#include "plan/clusters/scatter/scatter_in_periods.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

/// Equal nodes or not; every cost may be zero.
Cluster any_cluster(std::int64_t most_nodes, std::int64_t most_ranks) {
  Cluster c;
  c.base = {1, Time{any_of(0, 2) == 0 ? any_of(0, 2) : any_of(0, 20)}, Time{any_of(0, 5)}, Time{any_of(1, 9)}};
  if (c.base.lambda() == Time{0}) c.base.L = Time{1};
  c.nodes.gamma = Time{any_of(0, c.base.gap().ticks)};
  c.nodes.publish = Time{any_of(0, std::min<std::int64_t>(6, c.base.lambda().ticks))};
  c.nodes.read = Time{any_of(0, std::min<std::int64_t>(6, (c.base.lambda() - c.nodes.publish).ticks))};
  const std::int64_t N = any_of(1, most_nodes), size = any_of(1, most_ranks);
  const bool equal = any_of(0, 1) == 0;
  for (std::int64_t i = 0; i < N; ++i) c.nodes.add(equal ? size : any_of(1, most_ranks));
  c.base.P = c.nodes.ranks();
  return c;
}

Problem any_problem(const Cluster& c) {
  return {.kind = *rc::gen::element(Kind::scatter, Kind::gather),
          .root = Rank{static_cast<std::int32_t>(any_of(0, c.base.P - 1))}};
}

std::string named(const Cluster& c, const Problem& problem, const Plan& plan) {
  return to_string(c) + " " + std::string(to_string(problem.kind)) + " root " + std::to_string(problem.root.index) +
         ": " + plan.claim().construction + "\n";
}

/// The bound on the cluster as the problem sees it.
Bound bound_of(Cluster c, const Problem& problem) {
  if (problem.kind == Kind::gather) std::swap(c.nodes.publish, c.nodes.read);
  return scatter_bound(c, problem.root);
}

RC_GTEST_PROP(ScatterInPeriods, IsLegalOnRandomClusters, ()) {
  const Cluster c = any_cluster(12, 9);
  const Problem problem = any_problem(c);
  const Lanes lanes = any_of(0, 3) == 0 ? Lanes::leaders : Lanes::all;
  const PlanPtr plan = scatter_in_periods(c, problem, lanes, bound_of(c, problem));
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(named(c, problem, *plan) + to_string(report));
  RC_ASSERT(actual_finish(schedule) == plan->claim().finish);
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  RC_ASSERT(schedule.nodes == c.nodes);
  RC_ASSERT(schedule.problem == problem);
}

RC_GTEST_PROP(ScatterInPeriods, LocalFormsTogetherAreTheSchedule, ()) {
  const Cluster c = any_cluster(12, 9);
  const Problem problem = any_problem(c);
  const Lanes lanes = any_of(0, 3) == 0 ? Lanes::leaders : Lanes::all;
  expect_local_forms_equal_schedule(*scatter_in_periods(c, problem, lanes, bound_of(c, problem)));
}

/// clusters.md, Theorem 16, for every number of items that the root may send.
Time bound_by_trying(const Cluster& c, Rank root) {
  const std::int64_t n = c.nodes.size(c.nodes.node_of(root)), m = c.base.P - n, items = c.base.P - 1;
  const std::int64_t lambda = c.base.lambda().ticks, G = c.base.gap().ticks, o = c.base.o.ticks;
  const std::int64_t p = c.nodes.publish.ticks, r = c.nodes.read.ticks;
  if (items == 0) return Time{0};
  std::int64_t least = kSaturated;
  for (std::int64_t x = n == 1 ? items : 0; x <= items; ++x) {
    const std::int64_t y = items - x;
    const std::int64_t behind = std::min(x > 0 ? lambda - o : kSaturated, y > 0 ? r : kSaturated);
    std::int64_t time = x * o + y * p + behind;
    if (x > 0) time = std::max(time, lambda + (x - 1) * G);
    if (y > 0) time = std::max(time, p + r);
    if (x < m) time = std::max(time, p + r + lambda + (divide_up(m - x, n - 1) - 1) * std::max(G, r + o));
    if (x > 0 && o > 0 &&
        p > 0) {  // the publications where they cost least: between two sends, one after another in each pause
      std::int64_t busy = (x - 1) * G + o + behind;
      std::vector<std::int64_t> pauses(static_cast<std::size_t>(x - 1), G - o);
      for (std::int64_t left = y; left > 0; --left) {
        const auto widest = std::max_element(pauses.begin(), pauses.end());
        const std::int64_t room = widest == pauses.end() ? 0 : std::clamp<std::int64_t>(*widest, 0, p);
        busy += p - room;
        if (widest != pauses.end()) *widest -= p;
      }
      time = std::max(time, busy);
    }
    least = std::min(least, time);
  }
  return Time{std::max(least, m > 0 ? lambda + (m - 1) * c.nodes.gamma.ticks : 0)};
}

RC_GTEST_PROP(ScatterInPeriods, TheBoundIsThatOfEveryNumberOfSends, ()) {
  const Cluster c = any_cluster(12, 6);
  const Rank root{static_cast<std::int32_t>(any_of(0, c.base.P - 1))};
  if (scatter_bound(c, root).time != bound_by_trying(c, root))
    RC_FAIL(to_string(c) + " root " + std::to_string(root.index));
}

Cluster nodes_of(std::int64_t N, std::int64_t n, LogP base, std::int64_t gamma, std::int64_t publish,
                 std::int64_t read) {
  return Cluster::uniform(N, n, base, Time{gamma}, Time{publish}, Time{read});
}

/// 10^9 ranks: whoever sends, the partner receives the same, and what is read was published there.
TEST(ScatterInPeriods, AMillionNodesAnswerForOneRank) {
  const Cluster c = nodes_of(1'000'000, 1000, {1, Time{28}, Time{2}, Time{6}}, 1, 2, 2);
  const Rank root{123'456'789};
  for (const Kind kind : {Kind::scatter, Kind::gather}) {
    const PlanPtr plan = on_cluster(c, {.kind = kind, .root = root});
    EXPECT_LE(plan->claim().finish - plan->claim().bound, Time{100}) << plan->claim().construction;
    EXPECT_GE(plan->claim().bound, Time{999'000'000});
    for (const std::int32_t r : {0, 1, 999, 1000, 123'455'999, 123'457'000, 999'999'999}) {
      const LocalForm form = plan->local(Rank{r});
      const bool scatter = kind == Kind::scatter;
      ASSERT_EQ((scatter ? form.receives : form.sends).size(), 1U) << r;
      EXPECT_EQ((scatter ? form.sends : form.receives).size(), 0U) << r;
      const Send& send = scatter ? form.receives[0] : form.sends[0];
      const Rank partner = scatter ? send.from : send.to;
      EXPECT_EQ(send.part, (Part{r, 1}));
      EXPECT_LE(send.begin + c.base.lambda(), plan->claim().finish);
      if (partner == root) continue;  // has too much to do to list it
      const LocalForm there = plan->local(partner);
      const auto& sends = scatter ? there.sends : there.receives;
      EXPECT_EQ(std::count(sends.begin(), sends.end(), send), 1) << r;
      const auto of_item = [&](const auto& event) { return event.part == send.part; };
      EXPECT_EQ(std::count_if(there.readings.begin(), there.readings.end(), of_item), scatter ? 1 : 0);
      EXPECT_EQ(std::count_if(there.publications.begin(), there.publications.end(), of_item), scatter ? 0 : 1);
    }
    EXPECT_THROW(plan->local(root), Error);
    EXPECT_THROW(plan->schedule(), Error);
    const PlanPtr led = on_cluster(c, {.kind = kind, .root = root}, Lanes::leaders);
    const LocalForm last = led->local(Rank{999'999'999}), leader = led->local(Rank{999'999'000});
    ASSERT_EQ(last.readings.size() + last.publications.size(), 1U);
    EXPECT_EQ(leader.receives.size() + leader.sends.size(), 1000U);
    EXPECT_EQ(leader.publications.size() + leader.readings.size(), 999U);
  }
}

/// Where the adapter, the lanes or the root's own time decides, the rate is that of the bound: with very many items the plan is at most
/// a thousandth late.
TEST(ScatterInPeriods, ManyItemsNearTheBound) {
  for (const Cluster& c : {nodes_of(1'000'000, 1000, {1, Time{28}, Time{2}, Time{6}}, 1, 2, 2),
                           nodes_of(10'000'000, 100, {1, Time{28}, Time{2}, Time{6}}, 1, 2, 2),
                           nodes_of(10'000'000, 100, {1, Time{28}, Time{2}, Time{6}}, 0, 0, 0),
                           nodes_of(10'000'000, 3, {1, Time{40}, Time{4}, Time{10}}, 0, 2, 1),
                           nodes_of(10'000'000, 2, {1, Time{40}, Time{0}, Time{7}}, 2, 3, 5),
                           nodes_of(100'000'000, 1, {1, Time{6}, Time{2}, Time{4}}, 0, 0, 0)}) {
    for (const Kind kind : {Kind::scatter, Kind::gather}) {
      const Problem problem{.kind = kind, .root = Rank{1}};
      const Claim claim = scatter_in_periods(c, problem, Lanes::all, bound_of(c, problem))->claim();
      EXPECT_LE(claim.gap().ticks, claim.bound.ticks / 1000) << to_string(c) << ": " << claim.construction;
    }
  }
}

/// Machines with 10^6 to 10^9 ranks: how many have a plan within a hundredth of the bound; none is more than a quarter above it (clusters.md,
/// Theorem 27).
TEST(ScatterInPeriods, MostMachinesAreNearTheirBound) {
  std::mt19937_64 random(2026);
  const auto in = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  constexpr int kTried = 2000;
  int near = 0;
  for (int i = 0; i < kTried; ++i) {
    const std::int64_t scale = i % 2 == 0 ? 10 : 100;
    const LogP base{1, Time{in(1, 20 * scale)}, Time{in(0, scale)}, Time{in(1, scale)}};
    const std::int64_t gamma = i % 3 == 0 ? 0 : in(0, base.gap().ticks);
    const std::int64_t publish = i % 4 == 0 ? 0 : in(0, std::min(scale / 2, base.lambda().ticks));
    const std::int64_t read = i % 5 == 0 ? 0 : in(0, std::min(scale / 2, base.lambda().ticks - publish));
    const std::int64_t n = i % 2 == 0 ? in(1, 8) : in(2, 1000);
    const std::int64_t ranks[] = {1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
    const Cluster c = nodes_of(ranks[in(0, 3)] / n, n, base, gamma, publish, read);
    const Problem problem{.kind = in(0, 1) == 0 ? Kind::scatter : Kind::gather};
    const Claim claim = on_cluster(c, problem)->claim();
    near += claim.gap().ticks <= claim.bound.ticks / 100 ? 1 : 0;
    EXPECT_LE(claim.gap().ticks, claim.bound.ticks / 4) << to_string(c) << ": " << claim.construction;
  }
  EXPECT_EQ(near, 1933);
}

/// Where everything can be listed, the list is taken unless the periods end earlier.
RC_GTEST_PROP(ScatterInPeriods, FewRanksGetTheBetterPlan, ()) {
  const Cluster c = any_cluster(12, 9);
  const Problem problem = any_problem(c);
  const PlanPtr plan = on_cluster(c, problem);
  RC_ASSERT(plan->claim().finish <= scatter_in_periods(c, problem, Lanes::all, bound_of(c, problem))->claim().finish);
}

/// Nothing overflows on the way to a plan whose times fit (the sanitizers' builds would say so).
TEST(ScatterInPeriods, LongTimes) {
  std::mt19937_64 random(5);
  const auto in = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  int planned = 0;
  for (int i = 0; i < 400; ++i) {
    std::int64_t scale = 1, most = 10;
    for (std::int64_t e = in(6, 15); e > 0; --e) scale *= 10;
    for (std::int64_t e = in(0, 8); e > 0; --e) most *= 10;
    const LogP base{1, Time{in(1, scale)}, Time{in(0, scale)}, Time{in(1, scale)}};
    const std::int64_t publish = in(0, std::min(scale, base.lambda().ticks));
    const std::int64_t read = in(0, std::min(scale, base.lambda().ticks - publish)), P = in(2, most), n = in(1, 5);
    const Cluster c = nodes_of(divide_up(P, n), n, base, in(0, base.gap().ticks), publish, read);
    if (!fits_in_periods(c)) continue;
    const Problem problem{.kind = Kind::scatter, .root = Rank{static_cast<std::int32_t>(in(0, c.base.P - 1))}};
    const PlanPtr plan = scatter_in_periods(c, problem, Lanes::all, bound_of(c, problem));
    EXPECT_LE(plan->claim().bound, plan->claim().finish) << to_string(c);
    EXPECT_LE(plan->claim().finish, Time{kMaxTime}) << to_string(c);
    ++planned;
  }
  EXPECT_GT(planned, 100);
}

TEST(ScatterInPeriods, RefusesTimesThatDoNotFit) {
  const Cluster c = nodes_of(1'000'000, 1000, {1, Time{28}, Time{2}, Time{1'000'000'000'000'000}}, 1, 2, 2);
  EXPECT_FALSE(fits_in_periods(c));
  EXPECT_THROW(on_cluster(c, {.kind = Kind::scatter}), Error);
  EXPECT_GT(on_cluster(nodes_of(10, 10, {1, Time{28}, Time{2}, Time{1'000'000'000'000'000}}, 1, 2, 2),
                       {.kind = Kind::scatter})
                ->claim()
                .finish,
            Time{0});
}

}  // namespace
}  // namespace chasqui::plan
