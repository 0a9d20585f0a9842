// SPDX-License-Identifier: MIT
#include "structure/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace chasqui::structure {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CHASQUI_SOURCE_DIR;

/// Files under a folder of the repository, in order.
std::vector<std::string> files_under(const std::string& folder) {
  std::vector<std::string> paths;
  if (!fs::exists(kRoot / folder)) return paths;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (entry.is_regular_file()) paths.push_back(fs::relative(entry.path(), kRoot).generic_string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string room_of(const std::string& path) {
  std::string rest;
  if (path.rfind("include/chasqui/", 0) == 0) rest = path.substr(16);
  if (path.rfind("src/", 0) == 0) rest = path.substr(4);
  return rest.substr(0, rest.find('/'));
}

/// The file that `#include "name"` in `from` means, or "" if it is none of ours.
std::string resolve(const std::string& from, const std::string& name) {
  const std::string beside = (fs::path(from).parent_path() / name).lexically_normal().generic_string();
  for (const std::string& candidate : {"include/" + name, "src/" + name, "tests/" + name, beside}) {
    if (fs::exists(kRoot / candidate)) return candidate;
  }
  return "";
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(kRoot / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<SourceFile> source_files() {
  std::vector<SourceFile> files;
  for (const std::string folder : {"include", "src", "tests", "bench", "examples", "python"}) {
    for (const std::string& path : files_under(folder)) {
      const std::string extension = fs::path(path).extension().string();
      if (extension != ".cpp" && extension != ".hpp" && extension != ".h" && extension != ".c") continue;
      SourceFile file{path, room_of(path), {}, {}};
      std::istringstream text(text_of(path));
      for (std::string line; std::getline(text, line);) {
        const auto quote = line.find('"');
        if (line.rfind("#include", 0) == 0 && quote != std::string::npos) {
          const std::string name = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
          if (std::string target = resolve(path, name); !target.empty()) file.includes.push_back(std::move(target));
        }
        file.lines.push_back(std::move(line));
      }
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::vector<std::string> text_files() {
  std::vector<std::string> files;
  for (const std::string folder :
       {"include", "src", "tests", "bench", "examples", "cmake", "docs", "python", "scripts"}) {
    const auto paths = files_under(folder);
    files.insert(files.end(), paths.begin(), paths.end());
  }
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name[0] != '.') files.push_back(name);
  }
  return files;
}

std::map<std::string, std::set<std::string>> declared_dependencies() {
  std::map<std::string, std::set<std::string>> rooms;
  std::ifstream file(fs::path(CHASQUI_BINARY_DIR) / "tests" / "structure" / "rooms.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string room;
    if (!(words >> room)) continue;
    auto& depends = rooms[room];
    for (std::string other; words >> other;) depends.insert(other);
  }
  return rooms;
}

std::set<std::string> reachable(const Graph& graph, const std::string& from) {
  std::set<std::string> seen;
  std::vector<std::string> open{from};
  while (!open.empty()) {
    const auto node = graph.find(open.back());
    open.pop_back();
    if (node == graph.end()) continue;
    for (const std::string& next : node->second) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return seen;
}

}  // namespace chasqui::structure
