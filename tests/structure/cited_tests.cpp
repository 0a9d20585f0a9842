// SPDX-License-Identifier: MIT
#include "structure/cited_tests.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "structure/source_tree.hpp"

namespace chasqui::structure {

std::set<std::string> registered_tests() {
  std::set<std::string> names;
  const std::regex line(R"(chasqui_test\((\w+)|add_test\(NAME (\w+))");
  for (const std::string& path : text_files()) {
    if (path.rfind("tests/", 0) != 0 || path.find("CMakeLists.txt") == std::string::npos) continue;
    const std::string text = text_of(path);
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      names.insert((*at)[1].matched ? (*at)[1] : (*at)[2]);
    }
  }
  return names;
}

std::string all_cases() {
  std::string cases;
  const std::regex line(R"((?:TEST|TEST_P|TEST_F|TYPED_TEST|RC_GTEST_PROP)\((\w+),\s*(\w+))");
  for (const std::string& path : text_files()) {
    if (path.rfind("tests/", 0) != 0) continue;
    cases += "\n" + path;
    if (!path.ends_with(".cpp")) continue;
    const std::string text = text_of(path);
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      cases += "\n" + (*at)[1].str() + "." + (*at)[2].str();
    }
  }
  return cases;
}

bool file_exists(const std::string& name) {
  for (const std::string& path : text_files()) {
    if (path == name || path.ends_with("/" + name)) return true;
    if (name.ends_with("/") && path.rfind(name, 0) == 0) return true;
  }
  return std::filesystem::exists(std::filesystem::path(CHASQUI_SOURCE_DIR) / name);
}

std::size_t expect_cited_tests(const std::string& text, const std::set<std::string>& tests, const std::string& cases,
                               const std::string& place) {
  std::size_t checked = 0;
  static const std::regex citation(R"(`([\w./]+)`)");
  for (std::sregex_iterator at(text.begin(), text.end(), citation), end; at != end; ++at, ++checked) {
    const std::string name = (*at)[1];
    EXPECT_TRUE(tests.count(name) || file_exists(name)) << place << ": `" << name << "`";
  }
  static const std::regex named(R"((?:^|[\s(])((?:[A-Z]\w*\.)?[A-Z]\w*)(…?))");
  for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at) {
    const std::string name = (*at)[1];
    const bool inner = std::regex_search(name, std::regex("[a-z0-9][A-Z]"));
    if (!inner && !(*at)[2].length()) continue;  // a word of the sentence
    ++checked;
    EXPECT_NE(cases.find(name), std::string::npos) << place << ": no case " << name;
  }
  return checked;
}

}  // namespace chasqui::structure
