// SPDX-License-Identifier: MIT
// The floors of src/cli: commands stand on plans and launch, those on frame. No command knows another one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

TEST(Cli, IncludesGoDown) {
  const std::map<std::string, std::set<std::string>> below = {{"commands", {"plans", "launch", "frame"}},
                                                              {"plans", {"plans", "frame"}},
                                                              {"launch", {"launch", "frame"}},
                                                              {"frame", {"frame"}}};
  int read = 0;
  for (const auto& [floor, allowed] : below) {
    for (const auto& entry : fs::directory_iterator(fs::path(CHASQUI_SOURCE_DIR) / "src" / "cli" / floor)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line); ++read) {
        static const std::string kOurs = "#include \"cli/";
        if (!line.starts_with(kOurs)) continue;
        const std::string to = line.substr(kOurs.size(), line.find('/', kOurs.size()) - kOurs.size());
        EXPECT_TRUE(allowed.contains(to)) << entry.path() << ": " << line;
      }
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(Cli, OnlyTheParserKnowsCli11) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(CHASQUI_SOURCE_DIR) / "src")) {
    if (!entry.is_regular_file() || entry.path().filename() == "parse.cpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      EXPECT_FALSE(line.starts_with("#include <CLI/")) << entry.path() << ": " << line;
  }
}

}  // namespace
