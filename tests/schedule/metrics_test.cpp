// SPDX-License-Identifier: MIT
#include "chasqui/schedule/metrics.hpp"

#include <gtest/gtest.h>

namespace chasqui {
namespace {

/// 0 -> 1 -> 2 and 0 -> 3, on L=6 o=2 g=4; listed out of order.
Schedule small_tree() {
  Schedule s;
  s.machine = {4, Time{6}, Time{2}, Time{4}};
  s.sends = {send_item(Time{10}, Rank{1}, Rank{2}, 0), send_item(Time{4}, Rank{0}, Rank{3}, 0),
             send_item(Time{0}, Rank{0}, Rank{1}, 0)};
  return s;
}

TEST(Metrics, OfATree) {
  const Metrics m = measure(small_tree());
  EXPECT_EQ(m.finish, Time{20});
  EXPECT_EQ(actual_finish(small_tree()), Time{20});
  EXPECT_EQ(m.messages, 3);
  EXPECT_EQ(m.most_sends, 2);
  EXPECT_EQ(m.most_receptions, 1);
  EXPECT_EQ(m.depth, 2);
  EXPECT_EQ(m.ranks[3].depth, 1);
  EXPECT_EQ(m.ranks[3].ready, Time{14});
  EXPECT_EQ(m.busy, Time{12});
  EXPECT_DOUBLE_EQ(m.utilisation(), 12.0 / 80.0);
}

TEST(Metrics, AChainNeedsAvailability) {
  Schedule s = small_tree();
  s.sends[0].begin = Time{9};  // one tick before its sender has the item: no longer caused by it
  EXPECT_EQ(measure(s).depth, 1);
}

TEST(Metrics, AdditionsCount) {
  Schedule s;
  s.machine = {1, Time{6}, Time{2}, Time{4}};
  s.problem.kind = Kind::sum;
  s.adds = {{Time{3}, Rank{0}, Rank{0}, 4}};
  const Metrics m = measure(s);
  EXPECT_EQ(m.finish, Time{7});
  EXPECT_EQ(m.additions, 4);
  EXPECT_EQ(m.busy, Time{4});
}

TEST(Metrics, OfNothing) {
  const Metrics m = measure(Schedule{});
  EXPECT_EQ(m.finish, Time{0});
  EXPECT_EQ(m.depth, 0);
  EXPECT_EQ(m.utilisation(), 0);
}

}  // namespace
}  // namespace chasqui
