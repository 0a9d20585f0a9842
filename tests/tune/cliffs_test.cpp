// SPDX-License-Identifier: MIT
#include "chasqui/tune/cliffs.hpp"

#include <gtest/gtest.h>

namespace chasqui::tune {
namespace {

TimedCall call(Kind kind, int ranks, std::int64_t bytes, double time, double spread = 0.02) {
  return {"native", kind, ranks, bytes, time * (1 - spread), time, time * (1 + spread)};
}

TEST(Cliffs, WhatBehavesHasNone) {
  std::vector<TimedCall> calls;
  for (const int ranks : {2, 4, 8}) {
    for (std::int64_t bytes = 8; bytes <= 1 << 20; bytes *= 4)
      calls.push_back(call(Kind::broadcast, ranks, bytes, 1000 * ranks + static_cast<double>(bytes)));
  }
  EXPECT_TRUE(find_cliffs(calls).empty());
}

TEST(Cliffs, ALargerMessageIsFaster) {
  const auto cliffs = find_cliffs({call(Kind::broadcast, 4, 8, 100), call(Kind::broadcast, 4, 64, 300),
                                   call(Kind::broadcast, 4, 512, 320), call(Kind::broadcast, 4, 4096, 200)});
  ASSERT_EQ(cliffs.size(), 1U);  // the edge at 512 bytes, not the one before it
  EXPECT_EQ(cliffs[0].remedy, Cliff::Remedy::larger);
  EXPECT_EQ(cliffs[0].slow.bytes, 512);
  EXPECT_DOUBLE_EQ(cliffs[0].factor, 1.6);
  EXPECT_EQ(to_string(cliffs[0]), "native broadcast 512 B, 4 ranks: 0.3 us; 1.60 times as fast: 4 KiB");
}

TEST(Cliffs, MoreRanksAreFaster) {
  const auto cliffs = find_cliffs({call(Kind::barrier, 4, 0, 500), call(Kind::barrier, 8, 0, 300)});
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].remedy, Cliff::Remedy::more_ranks);
  EXPECT_EQ(cliffs[0].instead, "8 ranks");
}

TEST(Cliffs, MoreRanksOfEachNodeAreMoreSenders) {
  std::vector<TimedCall> calls = {call(Kind::barrier, 4, 0, 500), call(Kind::barrier, 8, 0, 300)};
  calls[0].of_node = calls[1].of_node = 1;
  EXPECT_EQ(find_cliffs(calls).size(), 1U);
  calls[1].of_node = 2;
  EXPECT_TRUE(find_cliffs(calls).empty());
}

TEST(Cliffs, SeveralSmallerCallsAreFaster) {
  const auto cliffs = find_cliffs({call(Kind::scan, 4, 1024, 100), call(Kind::scan, 4, 4096, 900)});
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].remedy, Cliff::Remedy::several);
  EXPECT_EQ(cliffs[0].instead, "4 calls of 1 KiB");
  EXPECT_DOUBLE_EQ(cliffs[0].factor, 2.25);
}

TEST(Cliffs, OtherCollectivesAreFaster) {
  std::vector<TimedCall> calls = {call(Kind::allreduce, 4, 64, 1000), call(Kind::reduce, 4, 64, 300),
                                  call(Kind::broadcast, 4, 64, 300)};
  const auto cliffs = find_cliffs(calls);
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].remedy, Cliff::Remedy::others);
  EXPECT_EQ(cliffs[0].instead, "reduce + broadcast");
  calls[2].who = "chasqui";  // somebody else's broadcast does not help
  EXPECT_TRUE(find_cliffs(calls).empty());
}

TEST(Cliffs, WhatMayBeNoiseIsNone) {
  EXPECT_TRUE(find_cliffs({call(Kind::scan, 4, 64, 150, 0.3), call(Kind::scan, 4, 128, 100, 0.3)}).empty());
  EXPECT_TRUE(find_cliffs({call(Kind::scan, 4, 64, 108, 0), call(Kind::scan, 4, 128, 100, 0)}).empty());
  EXPECT_EQ(find_cliffs({call(Kind::scan, 4, 64, 108, 0), call(Kind::scan, 4, 128, 100, 0)}, 1.05).size(), 1U);
}

}  // namespace
}  // namespace chasqui::tune
