// SPDX-License-Identifier: MIT
// The repository as the structure tests see it: files, their lines, and which file includes which.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace chasqui::structure {

struct SourceFile {
  std::string path;  ///< from the root of the repository: "src/verify/case.cpp"
  std::string room;  ///< "verify"; "" outside include/ and src/
  std::vector<std::string> lines;
  std::vector<std::string> includes;  ///< of our own headers, as paths from the root of the repository
};

/// All C and C++ files in include, src, tests, bench and examples.
std::vector<SourceFile> source_files();

/// All text files of the repository that are ours to write: sources, CMake, Markdown, scripts.
std::vector<std::string> text_files();

std::string text_of(const std::string& path);

/// "DEPENDS" of every room in this build.
std::map<std::string, std::set<std::string>> declared_dependencies();

/// All that can be reached in a graph.
using Graph = std::map<std::string, std::set<std::string>>;
std::set<std::string> reachable(const Graph& graph, const std::string& from);

}  // namespace chasqui::structure
