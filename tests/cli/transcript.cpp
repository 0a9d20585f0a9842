// SPDX-License-Identifier: MIT
#include "cli/transcript.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace chasqui::test {
namespace {

std::vector<std::string> lines_of(std::istream& input) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}

constexpr std::string_view kNeeds = "```console needs ";

bool is_installed(const std::string& program) {
  return std::system(fmt::format("command -v '{}' >/dev/null 2>&1", program).c_str()) == 0;
}

bool is_exit(const std::string& line, int& status) { return std::sscanf(line.c_str(), "[exit %d]", &status) == 1; }

/// "..." inside a line stands for any characters.
bool line_matches(std::string_view expected, std::string_view line) {
  const std::size_t at = expected.find("...");
  if (at == std::string_view::npos) return expected == line;
  if (line.substr(0, at) != expected.substr(0, at)) return false;
  const std::string_view rest = expected.substr(at + 3);
  for (std::size_t next = at; next <= line.size(); ++next) {
    if (line_matches(rest, line.substr(next))) return true;
  }
  return false;
}

bool matches_from(const std::vector<std::string>& expected, std::size_t i, const std::vector<std::string>& lines,
                  std::size_t j) {
  if (i == expected.size()) return j == lines.size();
  if (expected[i] == "...") {
    for (std::size_t next = j; next <= lines.size(); ++next) {
      if (matches_from(expected, i + 1, lines, next)) return true;
    }
    return false;
  }
  return j < lines.size() && line_matches(expected[i], lines[j]) && matches_from(expected, i + 1, lines, j + 1);
}

}  // namespace

std::vector<Step> read_transcript(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot read " + file.string());
  const bool markdown = file.extension() == ".md";
  bool inside = !markdown;
  bool open = false;  // does the last step still take lines?
  std::vector<Step> steps;
  int number = 0;
  for (const std::string& line : lines_of(input)) {
    ++number;
    if (markdown && line.starts_with("```")) {
      inside = line == "```console" || (line.starts_with(kNeeds) && is_installed(line.substr(kNeeds.size())));
      open = false;
    } else if (inside && line.starts_with("$ ")) {
      steps.push_back({line.substr(2), {}, 0, number});
      open = true;
    } else if (inside && open && is_exit(line, steps.back().status)) {
      open = false;
    } else if (inside && open && !(line.starts_with("# ") && !markdown)) {
      steps.back().expected.push_back(line);
    }
  }
  // Blank lines before the next command belong to the file, not to the output.
  for (Step& step : steps) {
    while (!step.expected.empty() && step.expected.back().empty()) step.expected.pop_back();
  }
  return steps;
}

Outcome run_step(const Step& step, const std::filesystem::path& directory) {
  // MPI libraries keep no frame pointers: under AddressSanitizer a slow walk up the stack tells whose their leaks are (tests/leaks.txt).
  const bool sanitized = std::getenv("ASAN_OPTIONS") != nullptr && step.command.find("mpirun") != std::string::npos;
  const char* const walk = sanitized ? "export ASAN_OPTIONS=$ASAN_OPTIONS:fast_unwind_on_malloc=0; " : "";
  const std::string line = fmt::format("cd '{}' && ( {}{}\n ) 2>&1", directory.string(), walk, step.command);
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run sh");
  std::string text;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
  const int status = pclose(pipe);
  std::istringstream input(text);
  Outcome outcome{lines_of(input), WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
  while (!outcome.lines.empty() && outcome.lines.back().empty()) outcome.lines.pop_back();
  return outcome;
}

bool matches(const std::vector<std::string>& expected, const std::vector<std::string>& lines) {
  return matches_from(expected, 0, lines, 0);
}

std::string rewritten(const std::filesystem::path& file, const std::vector<Step>& steps,
                      const std::vector<Outcome>& outcomes) {
  std::string text, comments;
  std::size_t i = 0;
  std::ifstream input(file);
  for (const std::string& line : lines_of(input)) {
    if (!line.starts_with("$ ")) {
      if (line.starts_with("# ") || i == 0) comments += line + "\n";
      continue;
    }
    text += (i > 0 ? "\n" : "") + comments + line + "\n";
    comments.clear();
    const bool keep = matches(steps[i].expected, outcomes[i].lines);
    for (const std::string& printed : keep ? steps[i].expected : outcomes[i].lines) text += printed + "\n";
    if (outcomes[i].status != 0) text += fmt::format("[exit {}]\n", outcomes[i].status);
    ++i;
  }
  return text;
}

}  // namespace chasqui::test
