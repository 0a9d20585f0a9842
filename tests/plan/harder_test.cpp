// SPDX-License-Identifier: MIT
// No plan ends later than that of a harder collective, with nodes and without (clusters.md, Theorem 41), and no bound is above it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/cut.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

/// A machine, and its plans for any problem.
struct Machine {
  Cluster cluster;  ///< without nodes: the plain machine

  PlanPtr plan(const Problem& problem, Lanes lanes = Lanes::all) const {
    if (cluster.nodes.empty()) return make_plan({.machine = cluster.base, .problem = problem});
    return on_cluster(cluster, problem, lanes);
  }
  /// Two plans can be made in turn (in_turn_plan.hpp).
  Time pause() const { return std::max(Time{0}, cluster.base.gap() - cluster.base.lambda()); }
  /// A reduction to rank 0 and a broadcast, along trees.
  Time trees_in_turn(bool commutative) const {
    if (cluster.nodes.largest() < 2) {
      return plan({.kind = Kind::reduce, .commutative = commutative})->claim().finish + pause() +
             plan({.kind = Kind::broadcast})->claim().finish;
    }
    return reduce_on_cluster(cluster, {}, commutative, Lanes::all)->claim().finish + pause() +
           broadcast_on_cluster(cluster, {}, Lanes::all)->claim().finish;
  }
  std::string name() const { return cluster.nodes.empty() ? to_string(cluster.base) : to_string(cluster); }
};

Machine any_machine(std::int64_t most_nodes, std::int64_t most_ranks, bool equal) {
  Machine made;
  LogP& base = made.cluster.base;
  base = logp(any_of(0, 20), any_of(0, 5), any_of(1, 9));
  if (base.lambda() == Time{0}) base.L = Time{1};
  if (any_of(0, 2) == 0) {
    base.P = any_of(1, most_nodes * most_ranks);
    return made;
  }
  Nodes& nodes = made.cluster.nodes;
  nodes.gamma = Time{any_of(0, base.gap().ticks)};
  nodes.publish = Time{any_of(0, std::min<std::int64_t>(6, base.lambda().ticks))};
  nodes.read = Time{any_of(0, std::min<std::int64_t>(6, (base.lambda() - nodes.publish).ticks))};
  const std::int64_t size = any_of(1, most_ranks);
  for (std::int64_t N = any_of(1, most_nodes); N > 0; --N) nodes.add(equal ? size : any_of(1, most_ranks));
  base.P = nodes.ranks();
  return made;
}

/// Whatever solves the harder problem solves the easier one.
void no_bound_above(const Machine& m, const Plan& easier, Time harder, const std::string& than) {
  const Claim& claim = easier.claim();
  if (claim.bound <= harder) return;
  RC_FAIL(m.name() + ": the bound of a " + std::string(to_string(easier.problem().kind)) + " of root " +
          std::to_string(easier.problem().root.index) + " is " + std::to_string(claim.bound.ticks) + ", " + than +
          " ends at " + std::to_string(harder.ticks));
}

/// … and a rule of the planner sees to it.
void no_later(const Machine& m, const Plan& easier, Time harder, const std::string& than) {
  no_bound_above(m, easier, harder, than);
  if (easier.claim().finish <= harder) return;
  RC_FAIL(m.name() + ": " + std::string(to_string(easier.problem().kind)) + " of root " +
          std::to_string(easier.problem().root.index) + " ends at " + std::to_string(easier.claim().finish.ticks) +
          ", " + than + " at " + std::to_string(harder.ticks));
}

/// Some items, and then the others.
void compare_items(const Machine& m, const PlanPtr& one) {
  std::vector<PlanPtr> of{nullptr, one};
  for (std::int64_t items = 2; items <= 4; ++items) {
    of.push_back(m.plan({.kind = Kind::broadcast, .root = one->problem().root, .items = items}));
    for (std::int64_t first = 1; first < items; ++first) {
      const Time some = of[static_cast<std::size_t>(first)]->claim().finish;
      const Time others = of[static_cast<std::size_t>(items - first)]->claim().finish;
      const std::string than = std::to_string(first) + " of " + std::to_string(items) + " items and then the others";
      no_later(m, *of.back(), some + m.pause() + others, than);
    }
  }
}

void compare_all(const Machine& m) {
  const Rank root{static_cast<std::int32_t>(any_of(0, m.cluster.base.P - 1))};
  const Rank last{static_cast<std::int32_t>(m.cluster.base.P - 1)};
  const auto plan = [&](Kind kind, Rank of = {}, bool commutative = true, bool exclusive = false) {
    return m.plan({.kind = kind, .root = of, .commutative = commutative, .exclusive = exclusive});
  };
  const PlanPtr broadcast = plan(Kind::broadcast, root), scatter = plan(Kind::scatter, root);
  const PlanPtr gather = plan(Kind::gather, root), barrier = plan(Kind::barrier);
  const PlanPtr allgather = plan(Kind::allgather), alltoall = plan(Kind::alltoall);
  const PlanPtr scan = plan(Kind::scan), before = plan(Kind::scan, {}, true, true);
  const PlanPtr reduce[] = {plan(Kind::reduce, root), plan(Kind::reduce, root, false)};
  const PlanPtr allreduce[] = {plan(Kind::allreduce), plan(Kind::allreduce, {}, false)};
  const PlanPtr reduce_scatter[] = {plan(Kind::reduce_scatter), plan(Kind::reduce_scatter, {}, false)};
  const auto named = [](const PlanPtr& harder) { return std::string(to_string(harder->problem().kind)); };
  const auto is_no_later = [&](const PlanPtr& easier, const PlanPtr& harder) {
    no_later(m, *easier, harder->claim().finish, named(harder));
  };
  const auto is_no_harder = [&](const PlanPtr& easier, const PlanPtr& harder) {
    no_bound_above(m, *easier, harder->claim().finish, named(harder));
  };
  is_no_later(barrier, allreduce[0]);
  is_no_later(broadcast, barrier);
  is_no_later(broadcast, scatter);
  is_no_later(gather, allgather);
  is_no_harder(scatter, alltoall);
  is_no_harder(allgather, alltoall);
  for (const int ordered : {0, 1}) {
    const PlanPtr &one = reduce[ordered], &all = allreduce[ordered];
    is_no_later(one, all);
    is_no_later(one, gather);
    is_no_harder(reduce[0], one);
    is_no_harder(allreduce[0], all);
    is_no_harder(reduce_scatter[0], reduce_scatter[ordered]);
    is_no_harder(reduce_scatter[ordered], alltoall);
    no_bound_above(m, *all, one->claim().finish + m.pause() + broadcast->claim().finish, "reduce and broadcast");
    no_later(m, *all, m.trees_in_turn(ordered == 0), "reduce and broadcast");
    no_later(m, *barrier, m.trees_in_turn(ordered == 0), "reduce and broadcast");
  }
  is_no_later(plan(Kind::broadcast), scan);
  is_no_later(plan(Kind::reduce, last, false), scan);
  for (const PlanPtr& s : {scan, before}) {
    is_no_harder(s, allgather);
    is_no_harder(plan(Kind::broadcast), s);
    is_no_harder(plan(Kind::reduce, last, false), s);
  }
  is_no_harder(scan, before);
  if (m.cluster.nodes.empty() || m.cluster.nodes.largest() == 1) return;
  is_no_later(scan, allgather);
  is_no_later(before, allgather);
  for (const PlanPtr& free : {broadcast, scatter, gather, barrier, allgather, alltoall, scan, before, reduce[0],
                              reduce[1], allreduce[0], allreduce[1], reduce_scatter[0], reduce_scatter[1]})
    no_later(m, *free, m.plan(free->problem(), Lanes::leaders)->claim().finish, "leaders");
}

RC_GTEST_PROP(Harder, NoPlanOfEqualNodesEndsLater, ()) { compare_all(any_machine(6, 4, true)); }
RC_GTEST_PROP(Harder, NoPlanOfUnequalNodesEndsLater, ()) { compare_all(any_machine(5, 3, any_of(0, 3) == 0)); }

RC_GTEST_PROP(Harder, ItemsEndNoLaterThanSomeAndThenTheOthers, ()) {
  const Machine m = any_machine(6, 4, any_of(0, 1) == 0);
  if (m.cluster.nodes.empty() || m.cluster.nodes.largest() == 1) return;
  const Rank root{static_cast<std::int32_t>(any_of(0, m.cluster.base.P - 1))};
  compare_items(m, m.plan({.kind = Kind::broadcast, .root = root}));
}

/// One of the tasks above, on a small machine.
TEST(Harder, WhatEndedLaterOnceDoesNot) {
  struct Row {
    std::vector<std::int64_t> sizes;
    std::int64_t L, o, g, gamma, publish, read;
    Problem problem;
    std::int64_t most;
  };
  const Problem reduce{.kind = Kind::reduce, .root = Rank{3}};
  const Problem scan{.kind = Kind::scan};
  for (const Row& row : {
           Row{{2, 2}, 40, 2, 1, 1, 6, 0, {.kind = Kind::reduce, .root = Rank{0}}, 48},  // an all-reduce
           Row{{2, 2}, 12, 4, 7, 0, 3, 6, reduce, 27},                                   // a scan
           Row{{3, 3}, 6, 2, 1, 1, 4, 6, reduce, 22},                                    // a gather
           Row{{2, 2, 2}, 3, 2, 1, 0, 0, 1, {.kind = Kind::gather}, 11},
           Row{{1, 3}, 8, 4, 6, 0, 0, 0, {.kind = Kind::alltoall}, 38},                                // leaders
           Row{{3}, 1, 0, 8, 4, 1, 0, scan, 1},                                                        // an all-gather
           Row{{2, 1}, 17, 4, 3, 3, 4, 6, {.kind = Kind::broadcast, .root = Rank{2}}, 29},             // a barrier
           Row{{4, 1, 4}, 14, 0, 1, 1, 2, 4, {.kind = Kind::broadcast}, 18},                           // a scatter
           Row{{2, 2, 2, 2, 2}, 9, 2, 2, 2, 5, 4, {.kind = Kind::reduce_scatter}, 52},                 // an all-to-all
           Row{{1, 3}, 3, 1, 4, 0, 4, 0, {.kind = Kind::broadcast, .root = Rank{1}, .items = 2}, 10},  // one item twice
           Row{{1, 1, 1, 4, 1}, 0, 5, 1, 0, 1, 0, {.kind = Kind::broadcast, .root = Rank{3}, .items = 2}, 22},
       }) {
    Cluster c{logp(row.L, row.o, row.g), {}};
    for (const std::int64_t size : row.sizes) c.nodes.add(size);
    c.base.P = c.nodes.ranks();
    c.nodes.gamma = Time{row.gamma};
    c.nodes.publish = Time{row.publish};
    c.nodes.read = Time{row.read};
    const PlanPtr plan = on_cluster(c, row.problem);
    EXPECT_LE(plan->claim().finish, Time{row.most}) << to_string(row.problem.kind) << " on " << to_string(c);
    const Schedule schedule = plan->schedule();
    EXPECT_TRUE(verify(schedule).legal()) << to_string(verify(schedule));
    expect_local_forms_equal_schedule(*plan);
  }
}

/// The gap is longer than a message: windows wait for it in every round, two trees once.
TEST(Harder, TreesInTurnAreLegalAtAnySize) {
  for (const std::int64_t P : {2, 18, 50, 1000}) {
    for (const Kind kind : {Kind::allreduce, Kind::barrier}) {
      const PlanPtr plan = make_plan({.machine = {P, Time{1}, Time{0}, Time{9}}, .problem = {.kind = kind}});
      const Report report = verify(plan->schedule());
      EXPECT_TRUE(report.legal()) << to_string(report);
      EXPECT_EQ(report.finish, plan->claim().finish);
    }
  }
  const PlanPtr huge =
      make_plan({.machine = {1'000'000'000, Time{1}, Time{0}, Time{9}}, .problem = {.kind = Kind::barrier}});
  EXPECT_LT(huge->local(Rank{123'456'789}).receives.size(), 100U);
}

/// What is cut out is legal, whatever the schedule that it is cut out of, and ends no later.
RC_GTEST_PROP(Harder, WhatIsCutOutIsLegal, ()) {
  Machine m = any_machine(5, 4, any_of(0, 1) == 0);
  const bool ordered = any_of(0, 1) == 0;
  const Kind kind = *rc::gen::element(Kind::allreduce, Kind::allgather, Kind::scan, Kind::gather, Kind::barrier);
  const Rank last{static_cast<std::int32_t>(m.cluster.base.P - 1)};
  const Rank any{static_cast<std::int32_t>(any_of(0, last.index))};
  const bool folds = kind == Kind::allreduce;
  const Schedule harder =
      m.plan({.kind = kind, .root = kind == Kind::gather ? any : Rank{}, .commutative = !folds || !ordered})
          ->schedule();
  std::vector<std::optional<Schedule>> cuts;
  if (kind != Kind::gather) cuts.push_back(broadcast_within(harder, kind == Kind::scan ? Rank{} : any));
  if (kind != Kind::barrier)
    cuts.push_back(
        folds_within(harder, {.kind = Kind::reduce, .root = kind == Kind::scan ? last : any, .commutative = !ordered}));
  if (kind == Kind::allgather) cuts.push_back(folds_within(harder, {.kind = Kind::scan, .exclusive = ordered}));
  for (const auto& cut : cuts) {
    if (!cut) RC_FAIL(m.name() + ": nothing in a " + std::string(to_string(kind)));
    const Report report = verify(*cut);
    if (!report.legal()) RC_FAIL(m.name() + ", " + std::string(to_string(kind)) + "\n" + to_string(report));
    RC_ASSERT(report.finish == cut->finish);
    RC_ASSERT(cut->finish <= harder.finish);
  }
}

}  // namespace
}  // namespace chasqui::plan
