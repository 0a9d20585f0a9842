// SPDX-License-Identifier: MIT
// What docs/results.md cites exists: the files, the test programs, and the cases named after a test program.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
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

/// What a link may name in a page: each heading in small letters, with - for spaces and without punctuation; where one
/// stands twice, the second ends in -1.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream text(page);
  bool fenced = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) fenced = !fenced;
    const std::size_t marks = line.find_first_not_of('#');
    if (fenced || marks == 0 || marks == std::string::npos || line[marks] != ' ') continue;
    const std::string heading =
        std::regex_replace(line.substr(marks + 1), std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
    std::string anchor;
    for (const char c : heading) {
      const auto code = static_cast<unsigned char>(c);
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || code >= 0x80 || std::isalnum(code) != 0)
        anchor += static_cast<char>(code < 0x80 ? std::tolower(code) : code);
    }
    std::string unique = anchor;
    for (int n = 1; !anchors.insert(unique).second; ++n) unique = anchor + "-" + std::to_string(n);
  }
  return anchors;
}

TEST(Citations, LinksOfTheDocumentationLead) {
  std::size_t checked = 0;
  for (const std::string& path : text_files()) {
    if (!path.ends_with(".md")) continue;
    const std::string text = text_of(path);
    static const std::regex link(R"(\]\((?:([\w./-]+\.\w+))?(?:#([\w-]+))?\))");
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::filesystem::path page =
          (*at)[1].matched ? (std::filesystem::path(path).parent_path() / (*at)[1].str()).lexically_normal()
                           : std::filesystem::path(path);
      ++checked;
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(CHASQUI_SOURCE_DIR) / page))
          << path << " links to " << (*at)[1];
      if (!(*at)[2].matched || page.extension() != ".md") continue;
      EXPECT_TRUE(anchors_of(text_of(page.string())).count((*at)[2]))
          << path << " links to " << page.string() << "#" << (*at)[2] << ", and no heading there is called so";
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(Citations, AnchorsAreThoseOfTheHeadings) {
  EXPECT_EQ(anchors_of("# A `b_c`: [d](e.md), f\n```sh\n# no heading\n```\n## g\n### g\n#no heading\n"),
            (std::set<std::string>{"a-b_c-d-f", "g", "g-1"}));
}

}  // namespace
}  // namespace chasqui::structure
