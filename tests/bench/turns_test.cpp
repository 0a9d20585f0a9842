// SPDX-License-Identifier: MIT
// The order in which contestants of bench/node are timed.
#include "../../bench/node/turns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace node_bench {
namespace {

TEST(Turns, EachFollowsEachOtherEquallyOften) {
  for (const std::size_t contestants : {2, 3}) {
    const Turns turns(contestants, 4);
    std::map<std::pair<std::size_t, std::size_t>, int> follows;
    for (std::size_t i = 1; i < turns.order().size(); ++i) ++follows[{turns.order()[i - 1], turns.order()[i]}];
    EXPECT_EQ(follows.size(), contestants * (contestants - 1));
    for (const auto& [pair, times] : follows) {
      EXPECT_NE(pair.first, pair.second);
      EXPECT_EQ(times, 4);
    }
  }
}

TEST(Turns, AMachineThatBecomesSlowerDoesSoForAll) {
  for (const std::size_t contestants : {2, 3}) {
    const Turns turns(contestants, 3);
    const double own[] = {900, 300, 450};
    std::vector<double> times;
    for (const std::size_t c : turns.order()) times.push_back(own[c] * std::pow(1.1, times.size()));
    for (std::size_t c = 1; c < contestants; ++c) {
      for (const double ratio : turns.ratios(c, times)) EXPECT_NEAR(ratio, 900 / own[c], 1e-9);
      EXPECT_EQ(turns.ratios(c, times).size(), 3u);
    }
  }
}

TEST(Turns, ADisturbedSliceSpoilsNoMoreThanItsCycles) {
  const Turns turns(3, 5);
  std::vector<double> times(turns.order().size(), 100.0);
  times[6] = 1e6;  // ends a cycle and begins another
  EXPECT_DOUBLE_EQ(median(turns.ratios(1, times)), 1);
  EXPECT_DOUBLE_EQ(median(turns.ratios(2, times)), 1);
  EXPECT_EQ(turns.of(0, times).size(), 11u);
}

}  // namespace
}  // namespace node_bench
