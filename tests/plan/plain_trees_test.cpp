// SPDX-License-Identifier: MIT
// The trees without a planner: legal, no faster than the plans, and as slow as their shape says.
#include "chasqui/plan/plain_trees.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "chasqui/plan/sum.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::plan {
namespace {

constexpr PlainTree kTrees[] = {PlainTree::binomial, PlainTree::chain, PlainTree::flat};
const LogP kMachines[] = {{1, {3}, {1}, {2}},  {2, {3}, {1}, {2}},  {8, {6}, {2}, {4}}, {13, {1}, {0}, {10}},
                          {17, {5}, {0}, {1}}, {33, {2}, {5}, {1}}, {7, {5}, {2}, {4}}};

TEST(PlainTrees, AreLegal) {
  int made = 0;
  for (const LogP& m : kMachines) {
    for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier, Kind::scatter, Kind::gather,
                            Kind::allgather, Kind::alltoall, Kind::reduce_scatter, Kind::scan}) {
      for (const std::int64_t items : {1, 3}) {
        if (items > 1 && (kind == Kind::allreduce || kind == Kind::barrier || kind == Kind::scatter ||
                          kind == Kind::gather || kind == Kind::scan))
          continue;
        for (const PlainTree tree : kTrees) {
          for (const bool exclusive : {false, true}) {
            if (exclusive && kind != Kind::scan) continue;
            Problem problem{.kind = kind, .items = items, .exclusive = exclusive};
            if (has_root(kind)) problem.root = Rank{static_cast<std::int32_t>(m.P / 3)};
            const PlainSchedule schedule = plain_schedule(tree, m, problem, 100'000);
            if (kind == Kind::scan && tree == PlainTree::flat) {
              EXPECT_TRUE(std::holds_alternative<std::string_view>(schedule));
              continue;
            }
            ++made;
            const Report report = verify(std::get<Schedule>(schedule));
            EXPECT_TRUE(report.legal()) << to_string(tree) << " " << to_string(kind) << " of " << items << " on "
                                        << to_string(m) << "\n"
                                        << to_string(report);
          }
        }
      }
    }
  }
  EXPECT_GT(made, 200);
}

TEST(PlainTrees, ReduceScatterInRankOrder) {
  const Problem problem{.kind = Kind::reduce_scatter, .commutative = false};
  for (const LogP& m : kMachines) {
    EXPECT_TRUE(std::holds_alternative<std::string_view>(plain_schedule(PlainTree::binomial, m, problem)));
    for (const PlainTree tree : {PlainTree::chain, PlainTree::flat}) {
      EXPECT_TRUE(verify(std::get<Schedule>(plain_schedule(tree, m, problem))).legal()) << to_string(m);
    }
  }
}

TEST(PlainTrees, SumsAreLegalAndNotFasterThanThePlan) {
  for (const LogP& m : kMachines) {
    for (const std::int64_t n : {1, 2, 5, 40, 200}) {
      for (const PlainTree tree : kTrees) {
        const Schedule schedule = plain_sum(tree, m, n);
        EXPECT_EQ(std::accumulate(schedule.operands.begin(), schedule.operands.end(), std::int64_t{0}), n);
        const Report report = verify(schedule);
        EXPECT_TRUE(report.legal()) << to_string(tree) << " of " << n << " on " << to_string(m) << "\n"
                                    << to_string(report);
        EXPECT_GE(schedule.finish, least_sum_time(m, n)) << to_string(tree) << " of " << n << " on " << to_string(m);
      }
    }
  }
}

TEST(PlainTrees, TakeAsLongAsTheirShapeSays) {
  const LogP m{16, {6}, {2}, {4}};
  const auto finish = [&](PlainTree tree) {
    return std::get<Schedule>(plain_schedule(tree, m, {.kind = Kind::broadcast})).finish;
  };
  EXPECT_EQ(finish(PlainTree::chain), 15 * m.lambda());
  EXPECT_EQ(finish(PlainTree::flat), m.lambda() + 14 * m.gap());
  EXPECT_EQ(finish(PlainTree::binomial), 4 * m.lambda());
  EXPECT_EQ(plain_sum(PlainTree::chain, LogP{3, {5}, {2}, {4}}, 3).finish,
            2 * (LogP{3, {5}, {2}, {4}}.lambda() + Time{1}));
}

TEST(PlainTrees, TooLargeIsSaid) {
  EXPECT_TRUE(std::holds_alternative<std::string_view>(
      plain_schedule(PlainTree::flat, {100000, {1}, {0}, {1}}, {.kind = Kind::allgather})));
}

}  // namespace
}  // namespace chasqui::plan
