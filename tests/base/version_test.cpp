// SPDX-License-Identifier: MIT
// One version, wherever it is said.
#include "chasqui/base/version.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cctype>

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
  std::size_t heading = text.find("\n## ");
  while (heading != std::string::npos && std::isdigit(static_cast<unsigned char>(text[heading + 4])) == 0)
    heading = text.find("\n## ", heading + 1);
  ASSERT_NE(heading, std::string::npos);
  const std::size_t begin = heading + 4;
  EXPECT_EQ(text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin), version());
}

}  // namespace
}  // namespace chasqui
