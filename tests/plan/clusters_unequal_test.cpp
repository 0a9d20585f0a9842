// SPDX-License-Identifier: MIT
// Plans on unequal nodes of which every rank finds its own part: trees, scans and items on as many lanes as all nodes have.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/plan/clusters.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/items/items_by_lanes.hpp"
#include "plan/clusters/items/with_readers.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

const Bound kNoBound{Time{0}, "none"};

/// Nodes of a few sizes, many of them or few, in runs and one by one.
Cluster unequal_nodes(std::int64_t most_nodes) {
  const auto maybe = [](std::int64_t most) { return any_of(0, 3) == 0 ? 0 : any_of(0, most); };
  Cluster c{logp(any_of(0, 30), maybe(5), any_of(1, 9)), {}};
  if (c.base.lambda() == Time{0}) c.base.L = Time{1};
  c.nodes.gamma = Time{maybe(c.base.gap().ticks)};
  c.nodes.publish = Time{maybe(std::min<std::int64_t>(6, c.base.lambda().ticks))};
  c.nodes.read = Time{maybe(std::min<std::int64_t>(6, (c.base.lambda() - c.nodes.publish).ticks))};
  const std::int64_t least = any_of(0, 2) == 0 ? any_of(1, 4) : 1, most = least + any_of(1, 8);
  c.nodes.add(most, any_of(1, 2));
  c.nodes.add(least);
  while (c.nodes.count() < most_nodes && any_of(0, 9) > 0) c.nodes.add(any_of(least, most), any_of(1, 9));
  c.base.P = c.nodes.ranks();
  return c;
}

Rank any_rank(const Cluster& c) { return {static_cast<std::int32_t>(any_of(0, c.base.P - 1))}; }

/// Legal, in the time that is claimed, and the same seen by its ranks.
void expect_good(const Plan& plan) {
  const Schedule schedule = plan.schedule();
  const std::string what = to_string(Cluster{plan.machine(), plan.nodes()}) + ", root " +
                           std::to_string(plan.problem().root.index) + ": " + plan.claim().construction + "\n";
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(what + to_string(report));
  if (report.finish != plan.claim().finish) RC_FAIL(what + "it ends at " + std::to_string(report.finish.ticks));
  expect_local_forms_equal_schedule(plan);
}

/// What a rank sends and receives others receive and send, and what it reads they have published.
void expect_both_ends_agree(const Plan& plan, Rank rank) {
  const LocalForm form = plan.local(rank);
  for (const Send& send : form.sends) {
    const auto there = plan.local(send.to).receives;
    EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << rank.index;
  }
  for (const Send& send : form.receives) {
    const auto there = plan.local(send.from).sends;
    EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << rank.index;
  }
  for (const Reading& reading : form.readings) {
    const auto there = plan.local(reading.from).publications;
    EXPECT_TRUE(std::any_of(there.begin(), there.end(), [&](const Publication& publication) {
      return publication.part == reading.part && publication.begin + plan.nodes().publish <= reading.begin;
    })) << rank.index;
  }
}

/// clusters.md, Theorem 46.
RC_GTEST_PROP(ClustersUnequal, BroadcastsInPlacesAreLegal, ()) {
  Cluster c = unequal_nodes(80);
  const bool fine = any_of(0, 7) == 0;
  if (fine) c = in_fine_ticks(c);
  const Rank root = any_rank(c);
  const Bound bound = cluster_broadcast_bound(c);
  const PlanPtr plan = broadcast_in_places(c, root, Lanes::all, bound);
  expect_good(*plan);
  RC_ASSERT(bound.time <= plan->claim().finish);
  const PlanPtr leaders = broadcast_in_places(c, root, Lanes::leaders, bound);
  expect_good(*leaders);
  if (fine) return;  // lists take long there
  RC_ASSERT(on_cluster(c, {.kind = Kind::broadcast, .root = root})->claim().finish <= plan->claim().finish);
}

/// One rank fewer or many small nodes cost nothing, where the places of a tree at which one rank is enough are as many.
TEST(ClustersUnequal, SmallNodesGetPlacesAtWhichOneRankIsEnough) {
  const LogP base = logp(28, 2, 6);
  const Time equal = on_cluster(cluster(1'000'000, 16, base, 1, 2, 2), {})->claim().finish;
  for (const std::int64_t small : {1, 20'000, 100'000}) {
    Cluster c = cluster(500'000, 16, base, 1, 2, 2);
    c.nodes.add(3, small);
    c.nodes.add(16, 500'000 - small);
    c.base.P = c.nodes.ranks();
    const PlanPtr plan = broadcast_in_places(c, Rank{17}, Lanes::all, kNoBound);
    EXPECT_EQ(plan->claim().finish, equal) << small;
    const auto in_small = static_cast<std::int32_t>(c.nodes.first_rank(500'000));
    for (const std::int32_t r : {0, 1, 15, 16, 17, 33, 7'999'999, in_small, in_small + 2, 9'000'000})
      expect_both_ends_agree(*plan, Rank{r});
  }
}

/// clusters.md, Theorem 47.
RC_GTEST_PROP(ClustersUnequal, ScansInStepAreLegal, ()) {
  Cluster c = unequal_nodes(60);
  if (any_of(0, 3) == 0) c.nodes.add(any_of(1, 700));
  c.base.P = c.nodes.ranks();
  const Problem scan{.kind = Kind::scan, .exclusive = any_of(0, 1) == 0};
  expect_good(*scan_in_step(c, scan, kNoBound));
}

/// clusters.md, Theorem 48.
RC_GTEST_PROP(ClustersUnequal, ItemsWithReadersAreLegal, ()) {
  const Cluster c = unequal_nodes(20);
  const Problem problem{.kind = Kind::broadcast, .root = any_rank(c), .items = any_of(2, 20)};
  const auto good = [&](auto make) {
    if (const PlanPtr plan = with_readers(c, problem, make)) expect_good(*plan);
  };
  good([](const Cluster& equal, const Problem& own, std::int64_t lanes) {
    return repeated_on_cluster(equal, own, Lanes::all, kNoBound, lanes);
  });
  good([](const Cluster& equal, const Problem& own, std::int64_t lanes) {
    return spread_in_step(equal, own, Lanes::all, kNoBound, lanes);
  });
  const std::int64_t classes = any_of(2, problem.items);
  good([&](const Cluster& equal, const Problem& own, std::int64_t lanes) {
    return dealt_to_classes(equal, own, classes, kNoBound, lanes);
  });
}

/// Millions of unequal nodes: not much later than equal nodes, and every rank finds its part.
TEST(ClustersUnequal, ABillionRanksAnswerForOne) {
  const LogP base = logp(28, 2, 6);
  Cluster one_fewer = cluster(999'999, 1000, base, 1, 2, 2);
  one_fewer.nodes.add(999);
  Cluster three_sizes = cluster(5'000'000, 100, base, 1, 2, 2);
  three_sizes.nodes.add(60, 5'000'000);
  three_sizes.nodes.add(8, 20'000'000);
  for (Cluster* c : {&one_fewer, &three_sizes}) {
    c->base.P = c->nodes.ranks();
    const Cluster equal = cluster(c->nodes.count(), c->nodes.smallest(), base, 1, 2, 2);
    for (const Problem& problem :
         {Problem{}, Problem{.kind = Kind::scan}, Problem{.items = 8}, Problem{.items = 400}}) {
      const PlanPtr plan = on_cluster(*c, problem);
      const Time board{problem.kind == Kind::scan ? 16 : 4};  // the largest board's rounds
      EXPECT_LE(plan->claim().finish, on_cluster(equal, problem)->claim().finish + board) << plan->claim().construction;
      const std::int64_t last = c->base.P - 1;
      for (const std::int64_t r :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{999}, std::int64_t{123'456'789}, last})
        expect_both_ends_agree(*plan, Rank{static_cast<std::int32_t>(r)});
    }
  }
}

}  // namespace
}  // namespace chasqui::plan
