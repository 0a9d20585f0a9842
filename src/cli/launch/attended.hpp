// SPDX-License-Identifier: MIT
// A command that this process starts, waits for and outlives.
#pragma once

#include <string>
#include <vector>

namespace chasqui::cli {

/// Starts the command and waits for its end: its exit status, or 128 and the signal that ended it. SIGTERM and SIGHUP to this process go to the
/// command; a terminal's Ctrl-C reaches both by itself. So what this process has to tidy up afterwards is tidied up. Throws Error where no process can be
/// made; 127 where the command cannot be started, with a line that says why.
int status_of(std::vector<std::string> words);

}  // namespace chasqui::cli
