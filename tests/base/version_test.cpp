// SPDX-License-Identifier: MIT
// One version, wherever it is said.
#include "chasqui/base/version.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <regex>

#include "chasqui/base/file.hpp"

namespace chasqui {
namespace {

std::string text_of(const std::string& name) {
  return read_file(CHASQUI_SOURCE_DIR "/" + name, "run from a full tree");
}

TEST(Version, OfTheLibraryIsThatOfTheHeaders) {
  EXPECT_STREQ(version(), CHASQUI_VERSION);
  EXPECT_EQ(fmt::format("{}.{}.{}", CHASQUI_VERSION_MAJOR, CHASQUI_VERSION_MINOR, CHASQUI_VERSION_PATCH), version());
}

TEST(Version, OfTheBuildIsThatOfTheHeaders) { EXPECT_STREQ(CHASQUI_PROJECT_VERSION, version()); }

TEST(Version, IsTheOneToCite) {
  const std::string text = text_of("CITATION.cff");
  EXPECT_NE(text.find(fmt::format("\nversion: {}\n", version())), std::string::npos);
}

TEST(Version, HeadsTheListOfChanges) {
  const std::string text = text_of("CHANGELOG.md");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(\n## (\d+\.\d+\.\d+))")));
  EXPECT_EQ(match[1], version());
}

}  // namespace
}  // namespace chasqui
