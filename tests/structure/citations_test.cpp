// SPDX-License-Identifier: MIT
// What docs/results.md cites exists: the files, the test programs, and the cases named after a test program.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "structure/cited_tests.hpp"
#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

/// The rows of a Markdown text's tables, with the heading of the table's last column.
struct Row {
  int line = 0;
  std::string last_heading;
  std::vector<std::string> cells;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;  // a bar inside `code` does not divide
  for (const char c : line.substr(1)) {
    if (c == '`') code = !code;
    if (c != '|' || code) {
      cell += c;
      continue;
    }
    const std::size_t from = cell.find_first_not_of(' ');
    cells.push_back(from == std::string::npos ? "" : cell.substr(from, cell.find_last_not_of(' ') + 1 - from));
    cell.clear();
  }
  return cells;
}

/// Rows of all tables. A table without a heading, or a row of another width, fails the test.
std::vector<Row> rows_of(const std::string& path) {
  std::vector<Row> rows;
  std::istringstream text(text_of(path));
  std::vector<std::string> heading;
  int number = 0;
  bool divided = false;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line[0] != '|') {
      EXPECT_TRUE(heading.empty() || divided) << path << ":" << number << ": the table above has no | --- | line";
      heading.clear();
      divided = false;
    } else if (heading.empty()) {
      heading = cells_of(line);
      EXPECT_TRUE(heading.size() >= 2) << path << ":" << number;
    } else if (!divided) {
      divided = true;
      EXPECT_EQ(line.find_first_not_of("|-: "), std::string::npos) << path << ":" << number << ": no | --- | line";
    } else {
      rows.push_back({number, heading.back(), cells_of(line)});
      EXPECT_EQ(rows.back().cells.size(), heading.size()) << path << ":" << number << ": " << line;
    }
  }
  return rows;
}

TEST(Citations, TestsAndCasesExist) {
  const std::set<std::string> tests = registered_tests();
  const std::string cases = all_cases();
  std::size_t checked = 0;
  for (const Row& row : rows_of("docs/results.md")) {
    if (row.last_heading != "test" || row.cells.empty()) continue;
    checked += expect_cited_tests(row.cells.back(), tests, cases, "docs/results.md:" + std::to_string(row.line));
  }
  EXPECT_GT(checked, 40U) << "the tables were not found";
}

TEST(Citations, FilesExist) {
  std::size_t checked = 0;
  for (const Row& row : rows_of("docs/results.md")) {
    for (const std::string& cell : row.cells) {
      static const std::regex citation(R"(`([\w./]+\.(?:cpp|hpp|txt|md))`)");
      for (std::sregex_iterator at(cell.begin(), cell.end(), citation), end; at != end; ++at) {
        ++checked;
        EXPECT_TRUE(file_exists((*at)[1])) << "docs/results.md:" << row.line << ": " << (*at)[1];
      }
    }
  }
  EXPECT_GT(checked, 40U);
}

TEST(Citations, EveryEnvironmentVariableIsInItsTable) {
  const std::string page = text_of("docs/environment.md");
  const std::regex name("\"(CHASQUI_[A-Z_]+)\"");
  int found = 0;
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("src/", 0) != 0) continue;
    for (const std::string& line : file.lines) {
      for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at, ++found) {
        EXPECT_NE(page.find("| `" + (*at)[1].str() + "="), std::string::npos)
            << file.path << ": " << (*at)[1] << " is not in docs/environment.md";
      }
    }
  }
  EXPECT_GT(found, 10);
}

TEST(Citations, LinksOfTheDocumentationLead) {
  std::size_t checked = 0;
  for (const std::string& path : text_files()) {
    if (!path.ends_with(".md")) continue;
    const std::string text = text_of(path);
    static const std::regex link(R"(\]\(([\w./-]+\.\w+))");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::filesystem::path target =
          std::filesystem::path(CHASQUI_SOURCE_DIR) / std::filesystem::path(path).parent_path() / (*at)[1].str();
      ++checked;
      EXPECT_TRUE(std::filesystem::exists(target)) << path << " links to " << (*at)[1];
    }
  }
  EXPECT_GT(checked, 5U);
}

}  // namespace
}  // namespace chasqui::structure
