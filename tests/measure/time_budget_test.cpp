// SPDX-License-Identifier: MIT
// Samples inside a budget, on a clock of the test's own: busy machines must not take longer than they may.
#include "measure/time_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace chasqui::measure {
namespace {

/// What measuring does, on a machine where a sample of part i takes costs[i].
struct Playing {
  double now = 5e9;  ///< no clock begins at 0
  std::vector<int> taken;
  TimeBudget budget;

  Playing(const std::vector<double>& costs, double span, bool each) : budget(now, span, each) {
    const double share = 1.0 / static_cast<double>(costs.size());
    int next = budget.next(now);
    for (const double cost : costs) {
      taken.push_back(0);
      if (next == 0) continue;
      budget.begin(now, share);
      for (int more = next; more > 0; more = budget.more(now, cost, static_cast<std::size_t>(taken.back()))) {
        taken.back() += more;
        now += more * cost;
      }
      next = budget.next(now);
    }
  }
  double spent() const { return now - 5e9; }
};

TEST(TimeBudget, AQuietMachineTakesManySamplesOfEverything) {
  const Playing run(std::vector<double>(20, 1000), 20e6, false);  // room for a thousand each
  for (const int taken : run.taken) EXPECT_EQ(taken, 400);
  EXPECT_FALSE(run.budget.cut());
  EXPECT_LE(run.spent(), 20e6);
}

TEST(TimeBudget, ABusyMachineTakesFewerSamplesAndStaysWithinTheTime) {
  for (const double cost : {1e4, 1e5, 1e6, 2.5e6, 9e6, 4e7}) {
    const Playing run(std::vector<double>(20, cost), 20e6, false);
    EXPECT_LE(run.spent(), 20e6 + 2 * cost) << cost;  // what is under way is finished
    EXPECT_GE(run.spent(), std::min(20e6 - 40 * cost, 18e6)) << "time was left unused, " << cost;
    EXPECT_EQ(run.budget.cut(), cost >= 1e6) << cost;
    EXPECT_GE(run.taken.front(), 1);
  }
}

TEST(TimeBudget, WhatMustBeThereGetsOneSample) {
  const Playing run(std::vector<double>(20, 9e6), 20e6, true);
  for (const int taken : run.taken) EXPECT_GE(taken, 1);
  EXPECT_EQ(run.taken.back(), 1);
  EXPECT_TRUE(run.budget.cut());
  const Playing none(std::vector<double>(3, 1e6), 0, true);
  EXPECT_EQ(none.taken, (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(Playing(std::vector<double>(3, 1e6), 0, false).taken, (std::vector<int>{0, 0, 0}));
}

TEST(TimeBudget, OneSlowPartTakesFromTheLaterOnesOnlyWhatItNeeds) {
  std::vector<double> costs(10, 1e4);
  costs[2] = 3e6;
  const Playing run(costs, 10e6, false);
  EXPECT_EQ(run.taken[2], 2);
  for (const std::size_t i : {0u, 1u, 3u, 9u}) EXPECT_GE(run.taken[i], 2) << i;
}

}  // namespace
}  // namespace chasqui::measure
