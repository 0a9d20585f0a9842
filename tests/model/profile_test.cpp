// SPDX-License-Identifier: MIT
#include "chasqui/model/profile.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

std::string message_for(std::string text) {
  try {
    profile_from_json(text, "p.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  return at == std::string::npos ? "not there: " + from : text.replace(at, from.size(), to);
}

TEST(Profile, ComesBackFromItsFile) {
  Profile profile = default_profile();
  profile.native["broadcast"] = {{8, 1700.5}, {64, 2000}};
  profile.measured["broadcast"] = {{8, 480}};
  profile.levels[1].switches = {4096, 65536};
  profile.levels[1].shares_bandwidth = true;
  profile.levels[1].receives_in_parallel = true;
  profile.levels[1].node_g = {0.5, 0, 3};
  profile.levels[1].lane_gaps = {{1, {2, 1, 3}, {0.5, 0.25, 1}}, {2, {0.5, 0, 3}, {0.25, 0, 1}}};
  profile.levels[0].write = {90, 80, 95};
  profile.levels[0].read = {150, 100, 200};
  profile.bsp_G = {3, 2, 4};
  const std::string path = testing::TempDir() + "/profile" + std::to_string(getpid()) + ".json";
  write_profile(path, profile);
  EXPECT_EQ(read_profile(path), profile);
  std::remove(path.c_str());
}

TEST(Profile, ANetworkThatRepeatsTheNodeWasNotMeasured) {
  Profile profile = default_profile();
  EXPECT_TRUE(profile.knows_network());
  for (Level& level : profile.levels) level.ranks = 4;
  EXPECT_TRUE(profile_from_json(to_json(profile), "p").knows_network());
  profile.levels[1].assumed = true;
  EXPECT_FALSE(profile_from_json(to_json(profile), "p").knows_network());
  profile.levels[1] = profile.levels[0];  // as files said it before there was a word for it
  profile.levels[1].name = "network";
  EXPECT_FALSE(profile_from_json(to_json(profile), "p").knows_network());
}

TEST(Profile, RefusesWhatItDoesNotKnow) {
  const std::string good = to_json(default_profile());
  EXPECT_EQ(message_for(good), "");
  EXPECT_NE(message_for(replaced(good, "\"host\"", "\"hots\"")).find("hots"), std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"publish\"", "\"publich\"")).find("publich"), std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"node\"", "\"nude\"")).find("nude"), std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"chasqui_profile\": 1", "\"chasqui_profile\": 2")).find("version"),
            std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"value\": 600.0", "\"value\": -600.0")).find("-600"), std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"value\": 600.0", "\"value\": 700.0")).find("interval"), std::string::npos);
  EXPECT_NE(message_for(replaced(good, "\"host\"", "\"host\": \"a\", \"host\"")).find("twice"), std::string::npos);
  EXPECT_NE(message_for("[]").find("object"), std::string::npos);
  EXPECT_NE(message_for("{").find("the text ends too early"), std::string::npos);
}

TEST(Profile, LanesAscend) {
  Profile profile = default_profile();
  const Estimate e = Estimate::exactly(1);
  profile.levels[1].lane_gaps = {{2, e, e}, {4, e, e}};
  EXPECT_EQ(message_for(to_json(profile)), "");
  EXPECT_NE(message_for(replaced(to_json(profile), "\"lanes\": 4", "\"lanes\": 2")).find("must ascend"),
            std::string::npos);
  EXPECT_NE(message_for(replaced(to_json(profile), "\"lanes\": 2", "\"lanes\": 0")).find("from 1 on"),
            std::string::npos);
  EXPECT_NE(message_for(replaced(to_json(profile), "\"lane_gaps\": [", "\"lane_gaps\": [3, ")).find("object"),
            std::string::npos);
}

TEST(Profile, MissingFileNamesTheRemedy) {
  try {
    read_profile("/nowhere/p.json");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("chasqui measure"), std::string::npos);
  }
}

}  // namespace
}  // namespace chasqui
