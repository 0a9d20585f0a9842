// SPDX-License-Identifier: MIT
// What grows unseen: the public headers behind a public header, and the members of a class. tests/structure/growth.txt has
// both as they are; a change that adds to them shows there. CHASQUI_UPDATE=1 writes the file anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "structure/source_tree.hpp"

namespace chasqui::structure {
namespace {

constexpr int kFewMembers = 8;  ///< classes with fewer are not listed
const std::string kTable = "tests/structure/growth.txt";

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string header_table(const std::vector<SourceFile>& files) {
  Graph includes;
  for (const SourceFile& file : files) includes[file.path].insert(file.includes.begin(), file.includes.end());
  std::ostringstream table;
  table << padded("public header", 32) << "headers behind it\n";
  for (const SourceFile& file : files) {
    if (file.path.rfind("include/", 0) != 0) continue;
    table << padded(file.path.substr(16), 32) << reachable(includes, file.path).size() << "\n";
  }
  return table.str();
}

/// Members are the names that end in an underscore, declared in the class itself.
std::string class_table(const std::vector<SourceFile>& files) {
  static const std::regex opening(
      R"(^\s*(?:class|struct)\s+(?:alignas\(.*\)\s*)?(?:\[\[.*\]\]\s*)?(\w+)(?:\s+final)?[^;()]*\{)");
  static const std::regex member(
      R"(^\s+[\w:<>,*&\s\[\]()]*?[\w>*&]\s+(?:\w+_(?:\{[^}]*\}|\[\w+\]| = [^;]*)?(?:, )?)+;)");
  static const std::regex name(R"(\b\w+_(?=[;,{\[ ]))");
  std::ostringstream table;
  table << padded("class", 32) << padded("members", 9) << "header\n";
  for (const SourceFile& file : files) {
    if (file.room.empty() || !file.path.ends_with(".hpp")) continue;
    struct Open {
      std::string name;
      int depth;
      int members;
    };
    std::vector<Open> open;
    int depth = 0;
    for (const std::string& line : file.lines) {
      const std::string code = line.substr(0, line.find("//"));
      std::smatch match;
      if (std::regex_search(code, match, opening)) open.push_back({match[1], depth, 0});
      else if (!open.empty() && depth == open.back().depth + 1 && std::regex_search(code, member)) {
        open.back().members +=
            static_cast<int>(std::distance(std::sregex_iterator(code.begin(), code.end(), name), {}));
      }
      for (const char c : code) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      for (; !open.empty() && depth <= open.back().depth; open.pop_back()) {
        if (open.back().members < kFewMembers) continue;
        table << padded(open.back().name, 32) << padded(std::to_string(open.back().members), 9) << file.path << "\n";
      }
    }
  }
  return table.str();
}

TEST(Growth, IsInItsTable) {
  const auto files = source_files();
  const std::string now = header_table(files) + "\n" + class_table(files);
  if (std::getenv("CHASQUI_UPDATE") != nullptr) {
    std::ofstream(std::string(CHASQUI_SOURCE_DIR) + "/" + kTable) << now;
    return;
  }
  EXPECT_EQ(text_of(kTable), now)
      << "run test_structure with CHASQUI_UPDATE=1 and read the difference: is the growth meant?";
}

}  // namespace
}  // namespace chasqui::structure
