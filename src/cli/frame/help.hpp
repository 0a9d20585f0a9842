// SPDX-License-Identifier: MIT
// Three readings of a Command's data: --help, the man page (roff) and shell completion.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.hpp"

namespace chasqui::cli {

/// `width` columns at most, except where a single word is longer.
std::string help_text(const Command& command, int width);
std::string help_overview(int width);
/// The page of one command, or of the program itself (section 1).
std::string man_page(const Command& command);
std::string man_overview();
std::string completion_bash();
std::string completion_zsh();
/// "chasqui 0.1.0 …", and the commands that this build lacks.
std::string version_text();

/// Every command that this build has.
std::vector<CommandPtr> make_commands();

/// "[options] COLLECTIVE", as the usage line shows the arguments.
std::string usage(const Command& command);

}  // namespace chasqui::cli
