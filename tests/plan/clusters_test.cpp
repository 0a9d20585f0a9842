// SPDX-License-Identifier: MIT
// Plans on clusters: legal on random clusters, as good as claimed, equal to what brute force finds on tiny ones.
#include "chasqui/plan/clusters.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

Cluster cluster(std::int64_t N, std::int64_t n, LogP base, std::int64_t gamma, std::int64_t publish,
                std::int64_t read) {
  return Cluster::uniform(N, n, base, Time{gamma}, Time{publish}, Time{read});
}

LogP logp(std::int64_t L, std::int64_t o, std::int64_t g) { return {1, Time{L}, Time{o}, Time{g}}; }

/// Any small cluster, equal nodes or not, and a collective on it.
struct Any {
  Cluster cluster;
  Problem problem;
  Lanes lanes = Lanes::all;
};

Any any() {
  const auto in = [](std::int64_t lo, std::int64_t hi) { return *rc::gen::inRange<std::int64_t>(lo, hi + 1); };
  Any made;
  LogP& base = made.cluster.base;
  base = logp(in(0, 20), in(0, 5), in(1, 9));
  if (base.lambda() == Time{0}) base.L = Time{1};
  Nodes& nodes = made.cluster.nodes;
  nodes.gamma = Time{in(0, base.gap().ticks)};
  nodes.publish = Time{in(0, std::min<std::int64_t>(6, base.lambda().ticks))};
  nodes.read = Time{in(0, std::min<std::int64_t>(6, (base.lambda() - nodes.publish).ticks))};
  const std::int64_t N = in(1, 12);
  const bool equal = in(0, 1) == 0;
  const std::int64_t size = in(1, 7);
  for (std::int64_t i = 0; i < N; ++i) nodes.add(equal ? size : in(1, 7));
  base.P = nodes.ranks();
  made.problem.kind = *rc::gen::element(Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier);
  const bool combining = made.problem.kind == Kind::reduce || made.problem.kind == Kind::allreduce;
  made.problem.commutative = !combining || in(0, 1) == 0;
  if (has_root(made.problem.kind)) made.problem.root = Rank{static_cast<std::int32_t>(in(0, base.P - 1))};
  if (in(0, 3) == 0) made.lanes = Lanes::leaders;
  return made;
}

RC_GTEST_PROP(Clusters, PlansAreLegalOnRandomClusters, ()) {
  const Any it = any();
  const PlanPtr plan = on_cluster(it.cluster, it.problem, it.lanes);
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  if (!report.legal())
    RC_FAIL(to_string(it.cluster) + " " + std::string(to_string(it.problem.kind)) + " root " +
            std::to_string(it.problem.root.index) + ": " + plan->claim().construction + "\n" + to_string(report));
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  RC_ASSERT(schedule.nodes == it.cluster.nodes);
}

RC_GTEST_PROP(Clusters, LocalFormsTogetherAreTheSchedule, ()) {
  const Any it = any();
  expect_local_forms_equal_schedule(*on_cluster(it.cluster, it.problem, it.lanes));
}

TEST(Clusters, OneRankANodeIsLogP) {
  for (const LogP& base : {logp(6, 2, 4), logp(3, 0, 1), logp(1, 5, 2), logp(20, 1, 30)}) {
    for (const std::int64_t N : {1, 2, 3, 8, 100, 12345}) {
      const PlanPtr plan = on_cluster(cluster(N, 1, base, 0, 0, 0), {.kind = Kind::broadcast});
      LogP machine = base;
      machine.P = N;
      EXPECT_EQ(plan->claim().finish, broadcast(machine)->claim().finish) << to_string(machine);
      EXPECT_TRUE(plan->claim().optimal()) << to_string(machine);
    }
  }
}

TEST(Clusters, LanesAgainstLeaders) {
  struct Row {
    LogP base;
    std::int64_t gamma, N, n, leaders, lanes;
  };
  // λ = 32, G = 6; λ = 48, G = 10; λ = 600, G = 60; publish = read = 2.
  const Row rows[] = {
      {logp(28, 2, 6), 1, 16, 16, 84, 53},      {logp(28, 2, 6), 1, 1024, 16, 178, 114},
      {logp(28, 2, 6), 1, 4096, 16, 208, 131},  {logp(28, 2, 6), 2, 1024, 16, 178, 132},
      {logp(40, 4, 10), 1, 1024, 16, 274, 148}, {logp(560, 20, 60), 1, 16, 16, 1264, 621},
  };
  for (const Row& row : rows) {
    const Cluster c = cluster(row.N, row.n, row.base, row.gamma, 2, 2);
    const Claim lanes = on_cluster(c, {.kind = Kind::broadcast})->claim();
    const Claim leaders = on_cluster(c, {.kind = Kind::broadcast}, Lanes::leaders)->claim();
    EXPECT_EQ(lanes.finish, Time{row.lanes}) << to_string(c);
    EXPECT_EQ(leaders.finish, Time{row.leaders}) << to_string(c);
    EXPECT_TRUE(lanes.optimal()) << to_string(c);
    EXPECT_FALSE(leaders.optimal()) << to_string(c);
  }
}

/// (n-1)·gamma >= publish + read: nothing is gained by entering a node twice.
RC_GTEST_PROP(Clusters, SingleEntryIsOptimalWhereTheNodeGapIsLong, ()) {
  const auto in = [](std::int64_t lo, std::int64_t hi) { return *rc::gen::inRange<std::int64_t>(lo, hi + 1); };
  const LogP base = logp(in(1, 30), in(0, 5), in(1, 9));
  const std::int64_t gamma = in(1, base.gap().ticks), n = in(2, 20);
  const std::int64_t board = in(0, std::min(base.lambda().ticks, (n - 1) * gamma));
  const std::int64_t publish = in(0, board);
  const Claim claim =
      on_cluster(cluster(in(2, 3000), n, base, gamma, publish, board - publish), {.kind = Kind::broadcast})->claim();
  RC_ASSERT(claim.optimal());
}

TEST(Clusters, AMillionNodesAnswerForOneRank) {
  const Cluster c = cluster(1'000'000, 1000, logp(28, 2, 6), 1, 2, 2);
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier}) {
    const PlanPtr plan = on_cluster(c, {.kind = kind, .root = has_root(kind) ? Rank{123'456'789} : Rank{0}});
    EXPECT_GT(plan->claim().finish, Time{32});
    for (const std::int32_t r : {0, 1, 999, 1000, 123'456'789, 999'999'999}) {
      const LocalForm form = plan->local(Rank{r});
      for (const Send& send : form.sends) {
        const auto there = plan->local(send.to).receives;
        EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << to_string(kind) << " rank " << r;
      }
      for (const Send& send : form.receives) {
        const auto there = plan->local(send.from).sends;
        EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << to_string(kind) << " rank " << r;
      }
    }
  }
}

TEST(Clusters, RefusesWhatItDoesNotPlan) {
  const Cluster c = cluster(4, 2, logp(6, 2, 4), 1, 2, 2);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::scan}), Error);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::broadcast, .items = 2}), Error);
  EXPECT_THROW(on_cluster(c, {.kind = Kind::broadcast, .root = Rank{8}}), Error);
  EXPECT_THROW(on_cluster(cluster(9, 2, logp(999'999'937, 2, 4), 1, 2, 2), {.kind = Kind::broadcast}), Error);
}

}  // namespace
}  // namespace chasqui::plan
