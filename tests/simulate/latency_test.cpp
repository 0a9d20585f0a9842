// SPDX-License-Identifier: MIT
#include "chasqui/simulate/latency.hpp"

#include <gtest/gtest.h>

#include <map>

#include "chasqui/base/error.hpp"

namespace chasqui::simulate {
namespace {

const LogP kEight{8, Time{6}, Time{1}, Time{2}};

Send message(std::int32_t from, std::int32_t to, std::int64_t begin = 0) {
  return send_item(Time{begin}, Rank{from}, Rank{to}, 0);
}

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Latency, UniformCoversItsRangeEvenly) {
  const Latency latency = uniform(kEight, Time{2}, Time{5}, 11);
  std::map<std::int64_t, int> seen;
  for (int t = 0; t < 4000; ++t) ++seen[latency(message(0, 1, t), 0).ticks];
  ASSERT_EQ(seen.size(), 4u);
  for (const auto& [value, count] : seen) EXPECT_NEAR(count, 1000, 150) << value;
  EXPECT_NE(complaint([] { uniform(kEight, Time{5}, Time{2}, 1); }).find("empty"), std::string::npos);
  EXPECT_NE(complaint([] { uniform(LogP::postal(2, Time{3}), Time{0}, Time{2}, 1); }).find("low"), std::string::npos);
}

TEST(Latency, DistributionFollowsItsWeights) {
  const Latency latency = distribution(kEight, histogram_from("3 1\n7 3 # often\n", "h.txt"), 5);
  std::map<std::int64_t, int> seen;
  for (int t = 0; t < 4000; ++t) ++seen[latency(message(0, 1, t), 0).ticks];
  EXPECT_NEAR(seen[3], 1000, 150);
  EXPECT_NEAR(seen[7], 3000, 150);
  EXPECT_EQ(complaint([] { histogram_from("3 1\n7\n", "h.txt"); }), "h.txt:2: a value is two words, 'latency weight'");
  EXPECT_NE(complaint([] { histogram_from("x 1\n", "h.txt"); }).find("h.txt:1"), std::string::npos);
  EXPECT_NE(complaint([] { distribution(kEight, {}, 1); }).find("empty"), std::string::npos);
  EXPECT_NE(complaint([] { distribution(kEight, {{Time{3}, 0}}, 1); }).find("weights"), std::string::npos);
}

TEST(Latency, TwoLevelsTellNearFromFar) {
  const Latency latency = two_level(kEight, 4, Time{1}, Time{9});
  EXPECT_EQ(latency(message(0, 3), 0), Time{1});
  EXPECT_EQ(latency(message(3, 4), 0), Time{9});
  EXPECT_THROW(two_level(kEight, 0, Time{1}, Time{9}), Error);
}

TEST(Latency, LinksComeFromAFileAndTheLastLineWins) {
  const Latency latency = per_link(kEight, "# map\n* * 4\n0 * 5\n0 1 7\n", "links.txt");
  EXPECT_EQ(latency(message(0, 1), 0), Time{7});
  EXPECT_EQ(latency(message(0, 2), 0), Time{5});
  EXPECT_EQ(latency(message(3, 2), 0), Time{4});
  const Latency overruled = per_link(kEight, "0 1 7\n* 1 3\n2 * 5\n2 1 6\n* * 2\n2 3 8\n", "links.txt");
  EXPECT_EQ(overruled(message(0, 1), 0), Time{2});
  EXPECT_EQ(overruled(message(2, 1), 0), Time{2});
  EXPECT_EQ(overruled(message(2, 3), 0), Time{8});
  EXPECT_EQ(per_link(kEight, "", "links.txt")(message(3, 2), 0), kEight.L);
  EXPECT_EQ(complaint([] { per_link(kEight, "0 1\n", "links.txt"); }),
            "links.txt:1: a link is three words, 'from to latency'");
  EXPECT_EQ(complaint([] { per_link(kEight, "\n0 8 1\n", "links.txt"); }),
            "links.txt:2: '8' is no rank: use 0..7 or *");
  EXPECT_NE(complaint([] { per_link(kEight, "0 1 -3\n", "links.txt"); }).find("links.txt:1"), std::string::npos);
}

}  // namespace
}  // namespace chasqui::simulate
