// SPDX-License-Identifier: MIT
#include "cli/pages.hpp"

#include <fmt/core.h>

#include <fstream>
#include <stdexcept>

namespace chasqui::test {
namespace {

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// "make demo    # explains itself" and "auto x;    // so does this"
std::string without_comment(const std::string& line) {
  for (const char* mark : {"  # ", "  // "}) {
    if (const auto at = line.find(mark); at != std::string::npos) return trimmed(line.substr(0, at));
  }
  return trimmed(line);
}

}  // namespace

std::vector<CommandLine> unrun_lines(const std::filesystem::path& root, const std::filesystem::path& page) {
  std::ifstream input(page);
  if (!input) throw std::runtime_error("cannot read " + page.string());
  std::vector<CommandLine> found;
  const std::string name = std::filesystem::relative(page, root).string();
  bool fenced = false, counts = false, blank = true, block = false, list = false;
  int number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    if (line.starts_with("```")) {
      fenced = !fenced;
      const std::string language = line.substr(3);
      counts = fenced && (language.empty() || language == "sh" || language == "bash" || language == "shell");
      block = false;
      continue;
    }
    if (fenced) {
      if (counts && !trimmed(line).empty()) found.push_back({name, number, without_comment(line)});
      continue;
    }
    const bool indented = line.starts_with("    ");
    if (line.empty()) {
      blank = true;
      continue;
    }
    // In a list four spaces go on with an entry; elsewhere, after a blank line, they are a block.
    block = indented && !list && (block || blank);
    if (block) found.push_back({name, number, without_comment(line)});
    if (!indented && line[0] != ' ')
      list = line.starts_with("- ") || line.starts_with("* ") ||
             (std::isdigit(static_cast<unsigned char>(line[0])) != 0 && line.find(". ") < 4);
    blank = false;
  }
  return found;
}

std::vector<Elsewhere> read_elsewhere(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file.string());
  std::vector<Elsewhere> entries;
  int number = 0;
  bool open = false;  // does an entry wait for its second line?
  for (std::string line; std::getline(input, line);) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    const bool second = line.starts_with("  ");
    const std::string text = trimmed(line);
    const auto at = text.find(": ");
    if (at == std::string::npos || second != open) {
      throw std::runtime_error(
          fmt::format("{}:{}: expected {}", file.string(), number, open ? "\"  FILE: WORDS\"" : "\"PAGE: COMMAND\""));
    }
    if (!second) entries.push_back({text.substr(0, at), text.substr(at + 2), "", "", number});
    else entries.back().file = text.substr(0, at), entries.back().words = text.substr(at + 2);
    open = !open;
  }
  if (open) throw std::runtime_error(fmt::format("{}: the last entry says nothing about who runs it", file.string()));
  return entries;
}

}  // namespace chasqui::test
