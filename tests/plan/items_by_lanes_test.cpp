// SPDX-License-Identifier: MIT
// Broadcasts of several items on equal nodes, of which a rank finds its part alone (clusters.md, Theorem 30).
#include "plan/clusters/items/items_by_lanes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/cluster_samples.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

/// The machine of clusters.md, Computed evidence 12.
Cluster usual(std::int64_t N, std::int64_t n) { return cluster(N, n, logp(28, 2, 6), 1, 2, 2); }

Problem items(std::int64_t k, std::int32_t root = 0) {
  return {.kind = Kind::broadcast, .root = Rank{root}, .items = k};
}

struct AnyItems {
  Cluster cluster;
  Problem problem;
  Lanes lanes = Lanes::all;
};

AnyItems any_items() {
  const auto maybe = [](std::int64_t most) { return any_of(0, 3) == 0 ? 0 : any_of(0, most); };
  LogP base = logp(any_of(0, 30), maybe(5), any_of(1, 9));
  if (base.lambda() == Time{0}) base.L = Time{1};
  const std::int64_t gamma = maybe(base.gap().ticks), lambda = base.lambda().ticks;
  const std::int64_t publish = maybe(std::min<std::int64_t>(6, lambda));
  const std::int64_t read = maybe(std::min<std::int64_t>(6, lambda - publish));
  AnyItems made{cluster(any_of(1, 14), any_of(1, 8), base, gamma, publish, read), items(any_of(2, 40))};
  made.problem.root = Rank{static_cast<std::int32_t>(any_of(0, made.cluster.base.P - 1))};
  if (any_of(0, 3) == 0) made.lanes = Lanes::leaders;
  return made;
}

/// Legal, in the time that is claimed, and the same seen by its ranks.
void expect_good(const Plan& plan, const AnyItems& it) {
  const Schedule schedule = plan.schedule();
  const std::string what = to_string(it.cluster) + " " + std::to_string(it.problem.items) + " items, root " +
                           std::to_string(it.problem.root.index) + ": " + plan.claim().construction + "\n";
  const Report report = verify(schedule);
  if (!report.legal()) RC_FAIL(what + to_string(report));
  if (report.finish != plan.claim().finish) RC_FAIL(what + "it ends at " + std::to_string(report.finish.ticks));
  RC_ASSERT(schedule.nodes == it.cluster.nodes);
  RC_ASSERT(schedule.problem.items == it.problem.items);
  expect_local_forms_equal_schedule(plan);
}

RC_GTEST_PROP(ItemsByLanes, RepeatedIsLegal, ()) {
  const AnyItems it = any_items();
  expect_good(*repeated_on_cluster(it.cluster, it.problem, it.lanes, {Time{0}, "none"}), it);
}

/// Where a tree in a coarser unit is repeated, messages arrive earlier than it has them.
RC_GTEST_PROP(ItemsByLanes, RepeatedIsLegalInFineTicks, ()) {
  AnyItems it = any_items();
  if (any_of(0, 1) == 0) {  // a node that passes an item on may have more to do with it than the root's
    const LogP fast = logp(any_of(0, 2), any_of(1, 3), any_of(1, 8));
    it = {cluster(any_of(2, 6), 3, fast, 0, any_of(0, fast.lambda().ticks), 0), items(3)};
  }
  it.cluster = in_fine_ticks(it.cluster);
  expect_good(*repeated_on_cluster(it.cluster, it.problem, it.lanes, {Time{0}, "none"}), it);
}

/// Five milliseconds, in nanoseconds.
TEST(ItemsByLanes, NanosecondsArePlanned) {
  const Cluster c = cluster(100'000, 16, logp(5'000'000, 317, 911), 97, 53, 31);
  for (const auto& [k, most_above] : {std::pair{2, 0.04}, std::pair{30, 0.53}}) {
    const Claim claim = on_cluster(c, items(k))->claim();
    EXPECT_LE(claim.bound, claim.finish);
    EXPECT_LE(static_cast<double>(claim.gap().ticks), most_above * static_cast<double>(claim.bound.ticks)) << k;
  }
}

/// Where messages are fast and gaps long, a node that passes an item on has more to do with it than the root's.
TEST(ItemsByLanes, RepeatedIsLegalWhereTheRootIsNotBusiest) {
  for (std::int64_t L = 0; L <= 2; ++L) {
    for (std::int64_t o = 1; o <= 3; ++o) {
      for (std::int64_t g = 1; g <= 8; ++g) {
        for (std::int64_t publish = 0; publish <= L + 2 * o; ++publish) {
          for (std::int64_t N = 2; N <= 6; ++N) {
            const PlanPtr plan = repeated_on_cluster(cluster(N, 3, logp(L, o, g), 0, publish, 0), items(3), Lanes::all,
                                                     {Time{0}, "none"});
            const Report report = verify(plan->schedule());
            EXPECT_TRUE(report.legal()) << to_string(plan->machine()) << " " << publish << to_string(report);
            EXPECT_EQ(report.finish, plan->claim().finish);
          }
        }
      }
    }
  }
}

/// AnyItems number of lanes, also one with which it takes longer than with another.
RC_GTEST_PROP(ItemsByLanes, DealtOutIsLegal, ()) {
  AnyItems it = any_items();
  RC_PRE(it.cluster.nodes.count() > 1);
  const std::int64_t most = std::min(it.cluster.nodes.largest(), it.problem.items);
  const auto lanes = *rc::gen::inRange<std::int64_t>(1, most + 1);
  expect_good(*dealt_to_lanes(it.cluster, it.problem, lanes, {Time{0}, "none"}), it);
}

RC_GTEST_PROP(ItemsByLanes, DealtOutOnUnequalNodesIsLegal, ()) {
  AnyItems it = any_items();
  for (std::int64_t more = any_of(1, 4); more > 0; --more) it.cluster.nodes.add(any_of(1, 9), any_of(1, 4));
  it.cluster.base.P = static_cast<std::int32_t>(it.cluster.nodes.ranks());
  it.problem.root = Rank{static_cast<std::int32_t>(any_of(0, it.cluster.base.P - 1))};
  const std::int64_t most = std::min(it.cluster.nodes.smallest(), it.problem.items);
  expect_good(*dealt_to_lanes(it.cluster, it.problem, any_of(1, most), {Time{0}, "none"}), it);
}

/// A node of one rank publishes nothing, so it ends earlier than equal nodes would.
TEST(ItemsByLanes, TheClaimIsExactWhereTheLastNodesAreSmall) {
  Cluster c = usual(1, 5);
  c.nodes.add(1, 2);
  c.base.P = static_cast<std::int32_t>(c.nodes.ranks());
  const PlanPtr plan = dealt_to_lanes(c, items(3), 1, {Time{0}, "none"});
  EXPECT_EQ(actual_finish(plan->schedule()), plan->claim().finish);
}

RC_GTEST_PROP(ItemsByLanes, DealtOutToClassesIsLegal, ()) {
  AnyItems it = any_items();
  RC_PRE(it.cluster.nodes.largest() > 1);
  const auto classes = *rc::gen::inRange<std::int64_t>(2, it.problem.items + 1);
  const PlanPtr plan = dealt_to_classes(it.cluster, it.problem, classes, {Time{0}, "none"});
  RC_PRE(static_cast<bool>(plan));
  expect_good(*plan, it);
}

RC_GTEST_PROP(ItemsByLanes, TheBestOfThemIsTaken, ()) {
  const AnyItems it = any_items();
  const PlanPtr plan = items_on_cluster(it.cluster, it.problem.root, it.problem.items, it.lanes);
  RC_ASSERT(plan->claim().bound <= plan->claim().finish);
  const Bound none{Time{0}, "none"};
  RC_ASSERT(plan->claim().finish <= repeated_on_cluster(it.cluster, it.problem, it.lanes, none)->claim().finish);
  if (it.cluster.nodes.count() == 1) return;
  RC_ASSERT(plan->claim().finish <= dealt_to_lanes(it.cluster, it.problem, 1, none)->claim().finish);
  if (it.lanes == Lanes::leaders || it.cluster.nodes.largest() == 1) return;
  if (const PlanPtr classes = dealt_to_classes(it.cluster, it.problem, 2, none))
    RC_ASSERT(plan->claim().finish <= classes->claim().finish);
}

/// clusters.md, Theorem 18, by trying every x.
RC_GTEST_PROP(ItemsByLanes, TheRootsTurnToTheLastItemIsFoundWithoutTryingAll, ()) {
  const LogP base = logp(30, any_of(0, 9), any_of(1, 12));
  const Cluster c = cluster(2, 2, base, 0, any_of(0, 9), 0);
  const std::int64_t k = any_of(1, 60), o = base.o.ticks, p = c.nodes.publish.ticks, G = base.gap().ticks;
  std::int64_t least = (k - 1) * G;
  for (std::int64_t x = 0; x < k; ++x)
    least = std::min(least, std::max(x == 0 ? 0 : (x - 1) * G, x * o + (k - 1 - x) * p));
  RC_ASSERT(root_turns_to_last_item(c, k) == least);
}

/// What a rank does with others, they do with it; and it gets every item once.
void expect_partners_agree(const Plan& plan, Rank rank) {
  const std::string what = plan.claim().construction + ", rank " + std::to_string(rank.index);
  const LocalForm form = plan.local(rank);
  std::vector<std::int32_t> got;
  for (const Send& send : form.receives) got.push_back(send.part.lo);
  for (const Reading& reading : form.readings) got.push_back(reading.part.lo);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(std::unique(got.begin(), got.end()), got.end()) << what;
  EXPECT_EQ(static_cast<std::int64_t>(got.size()), rank == plan.problem().root ? 0 : plan.problem().items) << what;
  for (const Send& send : form.sends) {
    const auto there = plan.local(send.to).receives;
    EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << what;
  }
  for (const Send& send : form.receives) {
    const auto there = plan.local(send.from).sends;
    EXPECT_TRUE(std::find(there.begin(), there.end(), send) != there.end()) << what;
  }
  for (const Reading& reading : form.readings) {
    const auto there = plan.local(reading.from).publications;
    const bool published = std::any_of(there.begin(), there.end(), [&](const Publication& publication) {
      return publication.part == reading.part && publication.begin + plan.nodes().publish <= reading.begin;
    });
    EXPECT_TRUE(published) << what;
  }
}

/// More nodes than the random clusters have, a number of them that the classes do not divide among them.
TEST(ItemsByLanes, AllOfThemAreLegalOnHundredsOfNodes) {
  const Bound none{Time{0}, "none"};
  for (const Cluster& c : {usual(64, 4), usual(101, 5), cluster(173, 3, logp(6, 0, 3), 2, 1, 3)}) {
    for (const std::int64_t k : {8, 33}) {
      const Problem problem = items(k, 17);
      for (const PlanPtr& plan : {repeated_on_cluster(c, problem, Lanes::all, none),
                                  dealt_to_lanes(c, problem, 1, none), dealt_to_lanes(c, problem, 3, none),
                                  dealt_to_classes(c, problem, 3, none), dealt_to_classes(c, problem, 8, none)}) {
        const Report report = verify(plan->schedule());
        EXPECT_TRUE(report.legal()) << to_string(c) << " " << plan->claim().construction << "\n" << to_string(report);
        EXPECT_EQ(report.finish, plan->claim().finish) << to_string(c) << " " << plan->claim().construction;
        for (const std::int32_t r : {0, 16, 17, 18, 200}) expect_partners_agree(*plan, Rank{r});
      }
    }
  }
}

/// clusters.md, Theorem 31: finish and bound.
TEST(ItemsByLanes, ABillionRanksAnswerForOne) {
  struct Row {
    std::int64_t N, items, finish, bound;
  };
  for (const Row& row :
       {Row{1'000'000, 2, 263, 207}, Row{1'000'000, 7, 278, 217}, Row{1'000'000, 8, 279, 219},
        Row{1'000'000, 32, 357, 267}, Row{1'000'000, 400, 1624, 1003}, Row{10'000'000, 2, 294, 237},
        Row{10'000'000, 8, 310, 249}, Row{10'000'000, 32, 387, 297}, Row{10'000'000, 400, 1740, 1033}}) {
    const std::int64_t n = 1'000'000'000 / row.N;
    const PlanPtr plan = on_cluster(usual(row.N, n), items(row.items, 123'456'789));
    EXPECT_EQ(plan->claim().finish, Time{row.finish}) << row.items << " " << plan->claim().construction;
    EXPECT_EQ(plan->claim().bound, Time{row.bound}) << row.items;
    const auto next = static_cast<std::int32_t>(123'456'789 + n);  // and the first nodes after the root's, and the last
    const auto before = static_cast<std::int32_t>(123'456'789 - n);
    for (const std::int32_t r :
         {0, 1, 999, 1000, 123'456'788, 123'456'789, 123'456'790, next, next + 1, before, before + 1, 999'999'999})
      expect_partners_agree(*plan, Rank{r});
    EXPECT_THROW(plan->schedule(), Error);
  }
}

TEST(ItemsByLanes, RefusesListsThatAreTooLong) {
  const PlanPtr plan = on_cluster(usual(1000, 100), items(20'000'000));
  EXPECT_LE(plan->claim().bound, plan->claim().finish);
  EXPECT_THROW(plan->local(Rank{5}), Error);
  EXPECT_THROW(plan->schedule(), Error);
  Cluster unequal = usual(1000, 100);
  unequal.nodes.add(50);
  unequal.base.P += 50;
  EXPECT_THROW(on_cluster(unequal, items(20'000'000))->local(Rank{5}), Error);
}

}  // namespace
}  // namespace chasqui::plan
