// SPDX-License-Identifier: MIT
#include "measure/compare_profiles.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "chasqui/base/error.hpp"

namespace chasqui::measure {
namespace {

Profile measured() {
  Profile profile = default_profile();
  for (Level& level : profile.levels) level.ranks = 4;
  profile.levels[0].L = {100, 90, 110};
  return profile;
}

TEST(Agree, IntervalsThatMeetAgree) {
  Profile now = measured();
  EXPECT_TRUE(all_agree(compare(measured(), now)));
  now.levels[0].L = {115, 110, 120};
  EXPECT_TRUE(all_agree(compare(measured(), now)));
  now.levels[0].L = {115, 111, 120};
  const auto list = compare(measured(), now);
  EXPECT_FALSE(all_agree(list));
  EXPECT_NE(to_text(list).find("1 of "), std::string::npos) << to_text(list);
  now = measured();
  now.bsp_g = {2, 1.5, 3};
  EXPECT_FALSE(all_agree(compare(measured(), now)));
}

TEST(Agree, WhatWasCutAtZeroIsNoInterval) {
  EXPECT_EQ(to_text(Estimate{0, 0, 0}), "0 (too small to resolve)");
  EXPECT_EQ(to_text(Estimate{0, 0, 35}), "at most 35");
  EXPECT_EQ(to_text(Estimate{41.26, 38, 45}), "41.3 (38 .. 45)");
  EXPECT_EQ(to_text(Estimate{20345.6, 19800, 21000}), "20346 (19800 .. 21000)");
  for (double x = 1e-6; x < 1e18; x *= 7.3)
    EXPECT_LE(to_text(Estimate{x, x, x}).size(), 28u) << to_text(Estimate{x, x, x});
}

TEST(Agree, ColumnsStandBelowEachOther) {
  Profile profile = measured();
  profile.levels[0].B = {123456, 100000, 654321};
  const std::string text = to_text(compare(profile, profile));
  const std::size_t now = text.find("now");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.find(" .. ") != std::string::npos;) {
    EXPECT_EQ(line[now - 1], ' ') << line;
    EXPECT_NE(line[now], ' ') << line;
  }
}

TEST(Agree, TheTableHasWhatWasMeasured) {
  Profile profile = measured();
  profile.levels[0].L = {0, 0, 0};
  const std::string both = to_table(profile);
  EXPECT_NE(both.find("L                0 (too small to resolve)"), std::string::npos) << both;
  EXPECT_NE(both.find("network, 4 ranks"), std::string::npos) << both;
  std::istringstream lines(both);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  profile.levels[1].assumed = true;
  EXPECT_EQ(to_table(profile).find("network"), std::string::npos);
  EXPECT_EQ(compare(profile, profile).size(), 11u);  // six of messages, three of the board, two of BSP
}

TEST(Agree, LinesFitAndOtherMachinesAreRefused) {
  const std::string text = to_text(compare(measured(), measured()));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
    at = end + 1;
  }
  Profile now = measured();
  now.levels[0].ranks = 8;
  EXPECT_THROW(compare(measured(), now), Error);
  now = measured();
  now.levels[0].threads = true;
  EXPECT_THROW(compare(measured(), now), Error);
}

TEST(Agree, NodesAndTheirBoardsAreShownAndCompared) {
  Profile before = default_profile();
  before.levels[0].write = {90, 80, 95};
  before.levels[0].read = {150, 100, 200};
  before.levels[1].lane_gaps = {{1, {400, 390, 410}, {0.5, 0.4, 0.6}}, {2, {200, 190, 210}, {0.3, 0.2, 0.4}}};
  const std::string table = to_table(before);
  for (const char* line : {"\nwrite            90 (80 .. 95) ", "\nread             150 (100 .. 200) ",
                           "\ng, 2 at once     200 (190 .. 210) ", "\nG, 1 at once     0.5 (0.4 .. 0.6) "})
    EXPECT_NE(table.find(line), std::string::npos) << line << " is not in\n" << table;
  Profile now = before;
  EXPECT_TRUE(all_agree(compare(before, now)));
  now.levels[1].lane_gaps[1].g = {300, 290, 310};
  EXPECT_FALSE(all_agree(compare(before, now)));
  now = before;
  now.levels[0].read = {300, 250, 310};
  EXPECT_FALSE(all_agree(compare(before, now)));
  now.levels[0].read = {};  // an older file
  EXPECT_TRUE(all_agree(compare(before, now)));
}

}  // namespace
}  // namespace chasqui::measure
