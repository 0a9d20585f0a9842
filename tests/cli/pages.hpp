// SPDX-License-Identifier: MIT
// Blocks of the pages that are not run from their page: what stands in them, and who runs the same instead.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace chasqui::test {

/// A line of an indented block, or of a fenced one without a language or in sh; without its comment.
struct CommandLine {
  std::string page;  ///< relative to the tree's root
  int line = 0;
  std::string text;
};

/// ```console blocks are not among them: those are run.
std::vector<CommandLine> unrun_lines(const std::filesystem::path& root, const std::filesystem::path& page);

/// An entry of elsewhere.txt.
struct Elsewhere {
  std::string page;
  std::string text;
  std::string file;   ///< of the tree: where a test has the same
  std::string words;  ///< which stand there
  int line = 0;
};

/// Throws std::runtime_error naming the line that makes no sense.
std::vector<Elsewhere> read_elsewhere(const std::filesystem::path& file);

}  // namespace chasqui::test
