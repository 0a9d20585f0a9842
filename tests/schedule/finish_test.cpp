// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {
namespace {

TEST(ActualFinish, IsTheLastAvailabilityOrAddition) {
  Schedule tree;  // 0 -> 1 -> 2 and 0 -> 3, listed out of order
  tree.machine = {4, Time{6}, Time{2}, Time{4}};
  tree.sends = {send_item(Time{10}, Rank{1}, Rank{2}, 0), send_item(Time{4}, Rank{0}, Rank{3}, 0),
                send_item(Time{0}, Rank{0}, Rank{1}, 0)};
  EXPECT_EQ(actual_finish(tree), Time{20});
  Schedule sum;
  sum.machine = {1, Time{6}, Time{2}, Time{4}};
  sum.adds = {{Time{3}, Rank{0}, Rank{0}, 4}};
  EXPECT_EQ(actual_finish(sum), Time{7});
  EXPECT_EQ(actual_finish(Schedule{}), Time{0});
}

}  // namespace
}  // namespace chasqui
