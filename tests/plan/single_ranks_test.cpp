// SPDX-License-Identifier: MIT
// A plain machine is a cluster of nodes of one rank: its plans are no slower than what the planner of clusters makes there, and what
// was taken over from it is a plan of the plain machine.
#include <gtest/gtest.h>

#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/verify/verify.hpp"
#include "local_equals_schedule.hpp"
#include "machines.hpp"
#include "sweep.hpp"

namespace chasqui::plan {
namespace {

Cluster single_ranks(const LogP& m) { return Cluster::uniform(m.P, 1, m, Time{0}, Time{0}, Time{0}); }

PlanPtr planned(const LogP& m, const Problem& problem) { return make_plan({.machine = m, .problem = problem}); }

Problem items(Kind kind, std::int64_t k) { return {.kind = kind, .items = k}; }

/// Calls visit(machine): small latencies beside overheads and gaps of every size.
template <typename Visit>
void for_machines(Visit visit) {
  for (const std::int64_t P : sweep_of<std::int64_t>({2, 3, 5, 8, 12}, {4, 6, 7, 9, 10, 11})) {
    for (const std::int64_t L : sweep_of<std::int64_t>({0, 1, 3, 8}, {2, 4, 5, 6, 7})) {
      for (std::int64_t o = 0; o <= 4; ++o) {
        for (const std::int64_t g : sweep_of<std::int64_t>({1, 3, 6}, {2, 4, 5})) {
          if (L + o > 0) visit(machine(P, L, o, g));
        }
      }
    }
  }
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const Collective& c : collectives()) {
    if (c.kind > Kind::barrier || c.name != to_string(c.kind)) continue;
    all.push_back({.kind = c.kind, .commutative = c.kind != Kind::scan});
  }
  all.push_back({.kind = Kind::scan, .commutative = false, .exclusive = true});
  for (const std::int64_t k : {2, 5, 12}) all.push_back(items(Kind::broadcast, k));
  return all;
}

/// With leaders: nodes of one rank have no other lanes, and with all lanes the plain machine is asked.
TEST(SingleRanks, NoPlanIsSlowerThanThatOfTheCluster) {
  int lists = 0;
  for_machines([&](const LogP& m) {
    for (const Problem& problem : problems()) {
      const Claim plain = planned(m, problem)->claim();
      const Claim nodes = on_cluster(single_ranks(m), problem, Lanes::leaders)->claim();
      EXPECT_LE(plain.finish, nodes.finish) << to_string(problem.kind) << " of " << problem.items << to_string(m);
      EXPECT_GE(plain.bound, nodes.bound) << to_string(problem.kind) << " of " << problem.items << to_string(m);
      EXPECT_LE(plain.bound, plain.finish) << to_string(problem.kind) << " of " << problem.items << to_string(m);
      lists += plain.construction.ends_with("one message after another") ? 1 : 0;
    }
  });
  EXPECT_GT(lists, 300);
}

TEST(SingleRanks, TheyArePlainMachinesToTheCluster) {
  for (const Problem& problem : problems()) {
    const LogP m = machine(7, 2, 3, 2);
    const PlanPtr plain = planned(m, problem), nodes = on_cluster(single_ranks(m), problem);
    EXPECT_EQ(nodes->claim().finish, plain->claim().finish) << to_string(problem.kind);
    EXPECT_EQ(nodes->claim().construction, plain->claim().construction) << to_string(problem.kind);
    EXPECT_EQ(nodes->nodes().count(), 7);
    EXPECT_TRUE(verify(nodes->schedule()).legal()) << to_string(verify(nodes->schedule()));
  }
}

TEST(SingleRanks, ListsArePlansOfThePlainMachine) {
  Sweep sweep;
  for_machines([&](const LogP& m) {
    if (!sweep.takes_next()) return;
    const std::int32_t last = static_cast<std::int32_t>(m.P - 1);
    for (const Problem& problem : {Problem{.kind = Kind::scan, .commutative = false},
                                   Problem{.kind = Kind::scan, .commutative = false, .exclusive = true},
                                   Problem{.kind = Kind::broadcast, .root = {last}, .items = 4},
                                   Problem{.kind = Kind::reduce, .root = {1}, .items = 4}}) {
      const PlanPtr plan = planned(m, problem);
      const Schedule schedule = plan->schedule();
      EXPECT_TRUE(plan->nodes().empty() && schedule.nodes.empty());
      EXPECT_EQ(schedule.bound, plan->claim().bound);
      const Report report = verify(schedule);
      EXPECT_TRUE(report.legal()) << to_string(problem.kind) << " on " << to_string(m) << "\n" << to_string(report);
      EXPECT_EQ(report.finish, plan->claim().finish) << to_string(problem.kind) << " on " << to_string(m);
      expect_local_forms_equal_schedule(*plan);
    }
  });
}

/// Small latencies beside overheads, where common send times and steps of 2o are long.
TEST(SingleRanks, Examples) {
  const PlanPtr scan = planned(machine(5, 1, 3, 2), {.kind = Kind::scan, .commutative = false});
  EXPECT_EQ(scan->claim().finish, Time{17});
  EXPECT_EQ(scan->claim().construction, "windows, one message after another");
  const PlanPtr two = planned(machine(2, 1, 3, 2), items(Kind::broadcast, 4));
  EXPECT_EQ(two->claim().finish, Time{16});
  EXPECT_TRUE(two->claim().optimal());
  const PlanPtr twelve = planned(machine(12, 10, 3, 2), items(Kind::broadcast, 12));
  EXPECT_EQ(twelve->claim().construction, "a tree for each item, one message after another");
  EXPECT_LT(twelve->claim().finish, kitem(machine(12, 10, 3, 2), 12)->claim().finish);
  EXPECT_EQ(planned(machine(12, 10, 3, 2), items(Kind::reduce, 12))->claim().finish, twelve->claim().finish);
}

TEST(SingleRanks, LongListsAreNotMade) {
  const LogP m = machine(1000, 10, 3, 2);
  EXPECT_EQ(planned(m, items(Kind::broadcast, 100))->claim().construction, kitem(m, 100)->claim().construction);
}

}  // namespace
}  // namespace chasqui::plan
