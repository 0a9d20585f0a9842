// SPDX-License-Identifier: MIT
// The pages of the theory and the code lead to each other by number: "trees.md, Theorem 6".
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "structure/cited_tests.hpp"
#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

const std::vector<std::string> kPages = {"trees.md",     "exchange.md", "items.md",   "streams.md",
                                         "adversary.md", "errata.md",   "clusters.md"};

/// What stands under a heading such as "### Theorem 6: a rank finds its own place".
struct Entry {
  std::string page;
  int line = 0;
  std::string kind;  ///< "Theorem", "Computed evidence", …
  int number = 0;
  std::string text;  ///< up to the next heading

  std::string place() const { return "docs/" + page + ":" + std::to_string(line); }
  std::string name() const { return page + ", " + kind + " " + std::to_string(number); }
  bool is_proved() const { return kind == "Theorem" || kind == "Lemma" || kind == "Corollary"; }
};

std::vector<Entry> entries_of(const std::string& page, const std::string& text) {
  static const std::regex heading(R"(### (Definition|Theorem|Lemma|Corollary|Computed evidence|Erratum) (\d+): .+)");
  std::vector<Entry> entries;
  std::istringstream lines(text);
  bool open = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, heading)) {
      entries.push_back({page, number, match[1], std::stoi(match[2]), ""});
      open = true;
    } else if (line.rfind("#", 0) == 0) {
      open = false;
    } else if (open) {
      entries.back().text += line + "\n";
    }
  }
  return entries;
}

std::vector<Entry> all_entries() {
  std::vector<Entry> all;
  for (const std::string& page : kPages) {
    for (Entry& entry : entries_of(page, text_of("docs/" + page))) all.push_back(std::move(entry));
  }
  return all;
}

/// What follows "Test: " in an entry, to the end of its line; "" if nothing does.
std::string tests_named(const std::string& text) {
  static const std::regex line(R"((?:^|\n| )Test: ([^\n]*))");
  std::smatch match;
  return std::regex_search(text, match, line) ? match[1].str() : "";
}

/// A text on one line, without the marks of comments: a citation may be broken anywhere.
std::string joined(const std::string& text) {
  static const std::regex breaks(R"(\s*\n\s*(?:///?)?\s*)");
  return std::regex_replace(text, breaks, " ");
}

/// The entries that a text cites by page, kind and number.
std::vector<std::string> citations_in(const std::string& text) {
  static const std::regex citation(
      R"(\b(\w+\.md), (Definition|Theorem|Lemma|Corollary|Computed evidence|Erratum) (\d+))");
  std::vector<std::string> found;
  if (text.find(".md,") == std::string::npos) return found;
  const std::string line = joined(text);
  for (std::sregex_iterator at(line.begin(), line.end(), citation), end; at != end; ++at) found.push_back(at->str());
  return found;
}

TEST(Theorems, AreNumberedInOrder) {
  std::map<std::string, int> last;
  for (const Entry& entry : all_entries()) {
    EXPECT_EQ(entry.number, last[entry.page] + 1) << entry.place() << ": " << entry.name();
    last[entry.page] = entry.number;
  }
  for (const std::string& page : kPages) EXPECT_GE(last[page], 9) << page << " has lost its numbers";
}

TEST(Theorems, HaveAProof) {
  for (const Entry& entry : all_entries()) {
    if (!entry.is_proved()) continue;
    EXPECT_NE(entry.text.find("*Proof"), std::string::npos) << entry.place() << ": " << entry.name();
    EXPECT_NE(entry.text.find("∎"), std::string::npos) << entry.place() << ": the proof does not end";
  }
}

TEST(Theorems, NameTheirCodeAndTheirTests) {
  const std::set<std::string> tests = registered_tests();
  const std::string cases = all_cases();
  static const std::regex path(R"(`((?:src|include|bench|data|tests)/[\w./]+)`)");
  for (const Entry& entry : all_entries()) {
    const std::string named = tests_named(entry.text);
    const bool nothing_to_run = entry.text.find("nothing to run") != std::string::npos;
    if (entry.kind != "Definition" && !nothing_to_run) {
      EXPECT_GT(expect_cited_tests(named, tests, cases, entry.place()), 0U)
          << entry.place() << ": " << entry.name() << " names no test";
    }
    for (std::sregex_iterator at(entry.text.begin(), entry.text.end(), path), end; at != end; ++at) {
      EXPECT_TRUE(file_exists((*at)[1])) << entry.place() << ": " << (*at)[1];
    }
    if (entry.is_proved()) {
      EXPECT_NE(entry.text.find("\nCode: `"), std::string::npos) << entry.place() << " names no code";
    }
  }
}

TEST(Theorems, CitedAreThere) {
  std::set<std::string> names;
  for (const Entry& entry : all_entries()) names.insert(entry.name());
  std::size_t checked = 0;
  for (const std::string& path : text_files()) {
    if (path == "tests/structure/theorems_test.cpp") continue;
    for (const std::string& name : citations_in(text_of(path))) {
      ++checked;
      EXPECT_TRUE(names.count(name)) << path << " cites " << name << ", which is not there";
    }
  }
  EXPECT_GT(checked, 60U);
}

/// A number that the code forgets to cite is a dead end for whoever reads the code first.
TEST(Theorems, AreCitedInTheCode) {
  std::set<std::string> cited;
  for (const SourceFile& file : source_files()) {
    if (file.room.empty()) continue;
    for (const std::string& name : citations_in(text_of(file.path))) cited.insert(name);
  }
  for (const Entry& entry : all_entries()) {
    if (!entry.is_proved()) continue;
    EXPECT_TRUE(cited.count(entry.name())) << entry.name() << " is cited by no file of src or include";
  }
}

/// The numbers of a text: "4, 6 to 8" are 4, 6, 7, 8.
std::set<int> numbers_in(const std::string& text) {
  static const std::regex range(R"((\d+)(?: to (\d+))?)");
  std::set<int> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), range), end; at != end; ++at) {
    const int first = std::stoi((*at)[1]), last = (*at)[2].matched ? std::stoi((*at)[2]) : first;
    for (int number = first; number <= last; ++number) numbers.insert(number);
  }
  return numbers;
}

TEST(Theorems, AreListedAmongTheResults) {
  const std::string results = text_of("docs/results.md");
  for (const Entry& entry : all_entries()) {
    if (entry.kind == "Definition" || entry.kind == "Erratum") continue;
    const std::size_t row = results.find("\n| [" + entry.page + "]");
    ASSERT_NE(row, std::string::npos) << "docs/results.md has no row for " << entry.page;
    EXPECT_TRUE(numbers_in(results.substr(row + 1, results.find('\n', row + 1) - row)).count(entry.number))
        << "docs/results.md does not list " << entry.name();
  }
}

// The readers themselves.
TEST(Theorems, AreFoundWhereTheyStand) {
  const auto entries =
      entries_of("x.md", "### Theorem 1: a\nwords\n\nCode: `b`. Test: `c` D.\n\n## next\nTest: `no`\n");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name(), "x.md, Theorem 1");
  EXPECT_EQ(tests_named(entries[0].text), "`c` D.");
  EXPECT_EQ(tests_named("no such line\n"), "");
  EXPECT_EQ(numbers_in("a (Theorem 4), b (6 to 8)"), (std::set<int>{4, 6, 7, 8}));
  EXPECT_EQ(citations_in("a (docs/trees.md,\n/// Theorem 6) and items.md, Computed evidence 9."),
            (std::vector<std::string>{"trees.md, Theorem 6", "items.md, Computed evidence 9"}));
}

}  // namespace
}  // namespace chasqui::structure
