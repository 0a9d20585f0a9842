// SPDX-License-Identifier: MIT
#include "chasqui/run/agree.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
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

}  // namespace
}  // namespace chasqui::run
