// SPDX-License-Identifier: MIT
// Exchanges on equal nodes in closed form: legal, as long as they say, and the same for one rank as for all.
#include "plan/clusters/exchange/exchange_in_turns.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/exchange/exchange_by_first_lanes.hpp"
#include "plan/clusters/exchange/exchange_by_lanes.hpp"
#include "plan/clusters/exchange/exchange_by_node_lanes.hpp"
#include "plan/clusters/exchange/exchange_in_columns.hpp"
#include "plan/clusters/exchange/exchange_in_step.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

/// Small equal nodes; every cost may be 0.
Cluster any_equal_nodes() {
  LogP base{1, Time{any_of(0, 40)}, Time{any_of(0, 5)}, Time{any_of(1, 12)}};
  if (base.lambda() == Time{0}) base.L = Time{1};
  const Time gamma{any_of(0, std::min<std::int64_t>(4, base.gap().ticks))};
  const Time publish{any_of(0, std::min<std::int64_t>(5, base.lambda().ticks))};
  const Time read{any_of(0, std::min<std::int64_t>(5, (base.lambda() - publish).ticks))};
  return Cluster::uniform(any_of(2, 6), any_of(1, 7), base, gamma, publish, read);
}

void expect_plan(const Plan& plan) {
  const Cluster cluster{plan.machine(), plan.nodes()};
  const Schedule schedule = plan.schedule();
  const Report report = verify(schedule);
  if (!report.legal())
    RC_FAIL(to_string(cluster) + " " + std::string(to_string(plan.problem().kind)) + " of " +
            std::to_string(plan.problem().items) + ", " + plan.claim().construction + "\n" + to_string(report));
  RC_ASSERT(actual_finish(schedule) == plan.claim().finish);
  expect_local_forms_equal_schedule(plan);
}

RC_GTEST_PROP(ExchangeInTurns, LanesAreLegalOnRandomNodes, ()) {
  const Cluster c = any_equal_nodes();
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter), .items = any_of(1, 3)};
  problem.commutative = any_of(0, 1) == 0;
  expect_plan(*exchange_by_lanes(c, problem, {Time{0}, "none"}));
}

RC_GTEST_PROP(ExchangeInTurns, TurnsAreLegalOnRandomNodes, ()) {
  const Cluster c = any_equal_nodes();
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter, Kind::alltoall),
                  .items = any_of(1, 3)};
  problem.commutative = any_of(0, 1) == 0;
  expect_plan(*exchange_in_turns(c, problem, {Time{0}, "none"}));
}

/// As many messages under way as fit: what is received was sent many steps ago.
RC_GTEST_PROP(ExchangeInTurns, LongLatenciesAreLegal, ()) {
  const LogP base{1, Time{any_of(50, 400)}, Time{any_of(1, 9)}, Time{any_of(1, 12)}};
  const Time gamma{any_of(0, std::min<std::int64_t>(2, base.gap().ticks))};
  const Cluster c = Cluster::uniform(any_of(2, 9), any_of(1, 8), base, gamma, Time{any_of(0, 9)}, Time{any_of(0, 9)});
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter, Kind::alltoall),
                  .items = any_of(1, 9)};
  expect_plan(*exchange_in_turns(c, problem, {Time{0}, "none"}));
  if (problem.kind != Kind::alltoall) expect_plan(*exchange_by_lanes(c, problem, {Time{0}, "none"}));
}

/// Nodes of any size, one after another or in runs, among them some larger than all others together.
Cluster any_unequal_nodes() {
  Cluster c = any_equal_nodes();
  for (std::int64_t more = any_of(1, 4); more > 0; --more) c.nodes.add(any_of(1, 12), any_of(1, 3));
  if (c.nodes.largest() == 1) c.nodes.add(2);
  c.base.P = static_cast<std::int32_t>(c.nodes.ranks());
  return c;
}

RC_GTEST_PROP(ExchangeInTurns, ColumnsAreLegalOnRandomUnequalNodes, ()) {
  const Cluster c = any_unequal_nodes();
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter, Kind::alltoall),
                  .items = any_of(1, 3)};
  problem.commutative = any_of(0, 1) == 0;
  expect_plan(*exchange_in_columns(c, problem, {Time{0}, "none"}));
}

RC_GTEST_PROP(ExchangeInTurns, FirstLanesAreLegalOnRandomUnequalNodes, ()) {
  const Cluster c = any_unequal_nodes();
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter), .items = any_of(1, 3)};
  problem.commutative = any_of(0, 1) == 0;
  if (const PlanPtr plan = exchange_by_first_lanes(c, problem, {Time{0}, "none"})) expect_plan(*plan);
}

/// clusters.md, Theorem 49: with any number of lanes, more than a node has ranks, too.
RC_GTEST_PROP(ExchangeInTurns, NodeLanesAreLegalOnRandomUnequalNodes, ()) {
  const Cluster c = any_unequal_nodes();
  Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter), .items = any_of(1, 3)};
  problem.commutative = any_of(0, 1) == 0;
  const std::int64_t lanes = any_of(0, 1) == 0 ? any_of(1, 2 * c.nodes.largest()) : std::int64_t{1} << any_of(0, 5);
  if (const PlanPtr plan = exchange_by_node_lanes(c, problem, {Time{0}, "none"}, lanes)) expect_plan(*plan);
  if (const PlanPtr best = exchange_by_node_lanes(c, problem, {Time{0}, "none"})) expect_plan(*best);
}

/// Of what is planned some has no list, some has one, and the faster one is taken: all is legal, and no bound is too high.
RC_GTEST_PROP(ExchangeInTurns, WhatIsChosenKeepsItsWord, ()) {
  const Cluster c = any_equal_nodes();
  const Problem problem{.kind = *rc::gen::element(Kind::allgather, Kind::reduce_scatter, Kind::alltoall),
                        .items = any_of(1, 3)};
  const PlanPtr plan = on_cluster(c, problem);
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  expect_plan(*plan);
  if (c.nodes.largest() == 1) return;
  RC_ASSERT(plan->claim().finish <= exchange_in_turns(c, problem, {Time{0}, "none"})->claim().finish);
  RC_ASSERT(plan->claim().finish <= exchange_in_step(c, problem, {Time{0}, "none"})->claim().finish);
}

Cluster machine(std::int64_t N, std::int64_t n) {
  return Cluster::uniform(N, n, {1, Time{28}, Time{2}, Time{6}}, Time{1}, Time{2}, Time{2});
}

TEST(ExchangeInTurns, AThousandMillionRanksHaveClaims) {
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
    const PlanPtr plan = on_cluster(machine(1'000'000, 1000), {.kind = kind});
    const Claim& claim = plan->claim();
    EXPECT_LE(claim.bound, claim.finish) << to_string(kind);
    EXPECT_LE(claim.gap().ticks * 100'000, claim.bound.ticks)
        << to_string(kind) << ": more than a thousandth of a per cent";
    EXPECT_THROW(plan->local(Rank{123'456'789}), Error) << to_string(kind);
    EXPECT_THROW(plan->schedule(), Error) << to_string(kind);
  }
  // Long times, of nanoseconds, and many items.
  const Cluster fine =
      Cluster::uniform(1'000'000, 1000, {1, Time{5'000'000}, Time{2000}, Time{4000}}, Time{6}, Time{700}, Time{500});
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
    const Claim claim = on_cluster(fine, {.kind = kind, .items = 1000})->claim();
    EXPECT_LE(claim.gap().ticks * 100, claim.bound.ticks) << to_string(kind) << ": more than a per cent";
  }
}

/// How far above its bound a plan ends, in thousandths, at a million nodes: the median, what nine of ten do not exceed, and the worst.
struct Gaps {
  std::int64_t median = 0, most = 0, worst = 0;
};
Gaps gaps(Kind kind, std::int64_t n) {
  std::vector<std::int64_t> found;
  for (const std::int64_t L : {100, 300, 1000, 5000}) {
    for (const std::int64_t g : {50, 100, 200, 400}) {
      for (const std::int64_t gamma : {0, 3, 20}) {
        for (const std::int64_t board : {10, 60}) {
          const LogP base{1, Time{L}, Time{100}, Time{g}};
          const Cluster c = Cluster::uniform(1'000'000, n, base, Time{gamma}, Time{board}, Time{board / 2});
          const Claim claim = on_cluster(c, {.kind = kind})->claim();
          found.push_back(claim.gap().ticks / (claim.bound.ticks / 1000));
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return {found[found.size() / 2], found[found.size() * 9 / 10], found.back()};
}

/// clusters.md, Theorem 29 has the table.
TEST(ExchangeInTurns, NearTheBoundOnManyMachines) {
  struct Row {
    Kind kind;
    std::int64_t n;
    Gaps gaps;
  };
  for (const Row& row : {Row{Kind::allgather, 4, {8, 28, 66}}, Row{Kind::allgather, 32, {0, 5, 8}},
                         Row{Kind::allgather, 1000, {0, 0, 0}}, Row{Kind::reduce_scatter, 4, {6, 21, 21}},
                         Row{Kind::reduce_scatter, 32, {0, 2, 2}}, Row{Kind::reduce_scatter, 1000, {0, 0, 0}},
                         Row{Kind::alltoall, 4, {46, 225, 225}}, Row{Kind::alltoall, 32, {7, 63, 63}},
                         Row{Kind::alltoall, 1000, {0, 8, 9}}}) {
    const Gaps found = gaps(row.kind, row.n);
    const std::string what = std::string(to_string(row.kind)) + " on nodes of " + std::to_string(row.n);
    EXPECT_EQ(found.median, row.gaps.median) << what;
    EXPECT_EQ(found.most, row.gaps.most) << what;
    EXPECT_EQ(found.worst, row.gaps.worst) << what;
  }
}

/// A bound that multiplies all ranks with all ranks, and times that are too long to say.
TEST(ExchangeInTurns, NothingOverflows) {
  const std::int64_t o = 1'000'000, P = 1'000'000'000;
  const Cluster c = Cluster::uniform(P / 1000, 1000, {1, Time{o}, Time{o}, Time{o}}, Time{0}, Time{o}, Time{o});
  EXPECT_GE(on_cluster(c, {.kind = Kind::alltoall})->claim().bound, Time{(P - 1000) * 2 * o});
  EXPECT_GE(on_cluster(c, {.kind = Kind::reduce_scatter})->claim().bound, Time{(P - 1) / 1000 * 999 * 2 * o});
  const std::int64_t most = kMaxParameter;
  for (const std::int64_t gamma : {std::int64_t{0}, most}) {
    const Cluster slow = Cluster::uniform(2, 1'000'000'000, {1, Time{most}, Time{most}, Time{most}}, Time{gamma},
                                          Time{most}, Time{most});
    for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
      EXPECT_THROW(on_cluster(slow, {.kind = kind}), Error) << to_string(kind);
      EXPECT_THROW(on_cluster(slow, {.kind = kind, .items = 9'000'000'000'000'000'000}), Error) << to_string(kind);
      EXPECT_THROW(on_cluster(machine(1000, 1000), {.kind = kind, .items = 9'000'000'000'000'000'000}), Error);
    }
  }
}

/// One rank of 400 000: who gets what it sends says so, too, and what it publishes is read.
TEST(ExchangeInTurns, OneRankAgreesWithItsPartners) {
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
    const PlanPtr plan = on_cluster(machine(100'000, 4), {.kind = kind});
    const Rank rank{234'567};
    const LocalForm form = plan->local(rank);
    EXPECT_GE(form.sends.size(), 99'999U);
    EXPECT_EQ(form.sends.size(), form.receives.size());
    for (std::size_t i = 0; i < form.sends.size(); i += 39'119) {
      const LocalForm there = plan->local(form.sends[i].to);
      EXPECT_TRUE(std::binary_search(there.receives.begin(), there.receives.end(), form.sends[i])) << to_string(kind);
      const LocalForm before = plan->local(form.receives[i].from);
      EXPECT_TRUE(std::binary_search(before.sends.begin(), before.sends.end(), form.receives[i])) << to_string(kind);
    }
    for (std::int32_t lane = 234'564; lane < 234'568; ++lane) {
      const LocalForm other = plan->local(Rank{lane});
      for (std::size_t i = 0; i < form.readings.size(); i += 9'973) {
        const Reading& reading = form.readings[i];
        const auto published = [&](const Publication& p) {
          return p.part == reading.part && p.second == reading.second;
        };
        if (reading.from != other.rank) continue;
        const auto at = std::find_if(other.publications.begin(), other.publications.end(), published);
        ASSERT_TRUE(at != other.publications.end()) << to_string(kind);
        EXPECT_LE(at->begin + plan->nodes().publish, reading.begin) << to_string(kind);
      }
    }
  }
}

TEST(ExchangeInTurns, OneNodeNeedsNoList) {
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall})
    EXPECT_TRUE(on_cluster(machine(1, 1'000'000), {.kind = kind})->claim().optimal()) << to_string(kind);
}

/// Two hundred nodes of 64 ranks or a few less, and such lists as were refused once.
/// clusters.md, Theorem 49: one small node beside many, of which a rank has several lanes.
TEST(ExchangeInTurns, OneSmallNodeCostsLittle) {
  Cluster one = machine(99, 16), four = machine(200, 64);
  one.nodes.add(1);
  four.nodes.add(4);
  for (Cluster* c : {&one, &four}) {
    c->base.P = c->nodes.ranks();
    for (const Kind kind : {Kind::allgather, Kind::reduce_scatter}) {
      const PlanPtr plan = on_cluster(*c, {.kind = kind});
      EXPECT_LE(plan->claim().gap().ticks * 100, plan->claim().bound.ticks * 60) << plan->claim().construction;
      for (const std::int32_t r : {0, 700, static_cast<std::int32_t>(c->base.P - 1)}) {
        const LocalForm form = plan->local(Rank{r});
        for (std::size_t i = 0; i < form.sends.size(); i += form.sends.size() / 7 + 1) {
          const LocalForm there = plan->local(form.sends[i].to);
          EXPECT_TRUE(std::binary_search(there.receives.begin(), there.receives.end(), form.sends[i])) << r;
        }
      }
    }
  }
}

TEST(ExchangeInTurns, ManyUnequalNodesAreNearTheirBound) {
  struct Row {
    Kind kind;
    std::int64_t most;  ///< per cent above the bound
  };
  for (const Row& row : {Row{Kind::allgather, 10}, Row{Kind::reduce_scatter, 15}, Row{Kind::alltoall, 2}}) {
    Cluster c = machine(150, 64);
    for (std::int64_t i = 0; i < 50; ++i) c.nodes.add(60 + i % 4);
    c.base.P = static_cast<std::int32_t>(c.nodes.ranks());
    const PlanPtr plan = on_cluster(c, {.kind = row.kind});
    EXPECT_LE(plan->claim().gap().ticks * 100, plan->claim().bound.ticks * row.most) << to_string(row.kind);
    const LocalForm form = plan->local(Rank{9'601});
    for (std::size_t i = 0; i < form.sends.size(); i += form.sends.size() / 5) {
      const LocalForm there = plan->local(form.sends[i].to);
      EXPECT_TRUE(std::binary_search(there.receives.begin(), there.receives.end(), form.sends[i]));
    }
  }
}

TEST(ExchangeInTurns, RefusesLeadersWhoseListIsLong) {
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall})
    EXPECT_THROW(on_cluster(machine(10'000, 20), {.kind = kind}, Lanes::leaders), Error) << to_string(kind);
}

}  // namespace
}  // namespace chasqui::plan
