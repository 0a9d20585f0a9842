// SPDX-License-Identifier: MIT
// Commands with their expected output, as text: a line "$ command", the lines it prints, and "[exit N]" when its
// status is not 0. A line "..." stands for any number of lines,
// "..." inside a line for any characters. In Markdown only ```console blocks are read;
// "```console needs PROGRAM" ones where that program is installed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace chasqui::test {

struct Step {
  std::string command;
  std::vector<std::string> expected;
  int status = 0;
  int line = 0;  ///< where the command stands in its file
};

std::vector<Step> read_transcript(const std::filesystem::path& file);

struct Outcome {
  std::vector<std::string> lines;
  int status = 0;
};

/// Runs the command with sh in `directory`, standard error joined to standard output.
Outcome run_step(const Step& step, const std::filesystem::path& directory);

/// Does the output match, with "..." as a wildcard for lines?
bool matches(const std::vector<std::string>& expected, const std::vector<std::string>& lines);

/// The transcript with what the commands really printed, for `CHASQUI_UPDATE=1`.
std::string rewritten(const std::filesystem::path& file, const std::vector<Step>& steps,
                      const std::vector<Outcome>& outcomes);

}  // namespace chasqui::test
