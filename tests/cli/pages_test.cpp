// SPDX-License-Identifier: MIT
// Every command of README.md, CONTRIBUTING.md and the pages in docs is run: in a ```console block by transcripts_test.cpp, or, where
// that would take hours or install something, by the test that elsewhere.txt names.
#include "cli/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace chasqui::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CHASQUI_SOURCE_DIR;

std::vector<CommandLine> all_unrun_lines() {
  std::vector<fs::path> pages = {kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::vector<CommandLine> all;
  for (const fs::path& page : pages) {
    for (CommandLine& line : unrun_lines(kRoot, page)) all.push_back(std::move(line));
  }
  return all;
}

TEST(Pages, EveryBlockIsRunHereOrElsewhere) {
  const auto entries = read_elsewhere(kRoot / "tests/cli/elsewhere.txt");
  for (const CommandLine& line : all_unrun_lines()) {
    const bool listed = std::any_of(entries.begin(), entries.end(),
                                    [&](const Elsewhere& e) { return e.page == line.page && e.text == line.text; });
    EXPECT_TRUE(listed) << line.page << ":" << line.line << ": nobody runs \"" << line.text
                        << "\": make it a ```console block, or say in tests/cli/elsewhere.txt which test does the same";
  }
}

TEST(Pages, WhatIsSaidToRunElsewhereStandsThere) {
  const auto lines = all_unrun_lines();
  for (const Elsewhere& entry : read_elsewhere(kRoot / "tests/cli/elsewhere.txt")) {
    const bool there = std::any_of(lines.begin(), lines.end(),
                                   [&](const CommandLine& l) { return l.page == entry.page && l.text == entry.text; });
    EXPECT_TRUE(there) << "elsewhere.txt:" << entry.line << ": " << entry.page << " no longer has \"" << entry.text
                       << "\"";
    const bool run = entry.file.starts_with("tests/") || entry.file.starts_with(".ci/") || entry.file == "Makefile";
    EXPECT_TRUE(run) << "elsewhere.txt:" << entry.line << ": " << entry.file << " is neither a test nor run by CI";
    std::ifstream file(kRoot / entry.file);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find(entry.words), std::string::npos)
        << "elsewhere.txt:" << entry.line << ": " << entry.file << " has no \"" << entry.words << "\"";
  }
}

TEST(Pages, BlocksAreFound) {
  const fs::path page = fs::path(testing::TempDir()) / "sample.md";
  std::ofstream(page)
      << "Words\n    not a block\n\n    make tea    # a comment\n    serve tea\n\n- an entry\n\n    that goes on\n\nWords\n\n"
         "```console\n$ true\n```\n\n```sh\npour\n```\n\n```cpp\nint x;\n```\n";
  const auto lines = unrun_lines(testing::TempDir(), page);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text, "make tea");
  EXPECT_EQ(lines[0].line, 4);
  EXPECT_EQ(lines[1].text, "serve tea");
  EXPECT_EQ(lines[2].text, "pour");
}

TEST(Pages, AListWithoutAnAnswerIsRefused) {
  const fs::path file = fs::path(testing::TempDir()) / "elsewhere.txt";
  std::ofstream(file) << "# words\nREADME.md: make tea\n  Makefile: tea\nREADME.md: pour\n";
  EXPECT_THROW(read_elsewhere(file), std::runtime_error);
  std::ofstream(file) << "README.md: make tea\nREADME.md: pour\n";
  EXPECT_THROW(read_elsewhere(file), std::runtime_error);
}

}  // namespace
}  // namespace chasqui::test
