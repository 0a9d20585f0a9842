// SPDX-License-Identifier: MIT
// What the ranks of a command preload (LD_PRELOAD), with the drop-in library among it.
#pragma once

#include <string>

#include "cli/launch/launchers.hpp"

namespace chasqui::cli {

/// The list for all ranks: what they would preload without us, then `library`. So a profiler that wraps MPI's functions sees the program's calls and
/// its own PMPI_ calls end here; behind us it would see nothing. Where words of the command give ranks a list of their own (`-x LD_PRELOAD=…`,
/// `-genv LD_PRELOAD …`, `env LD_PRELOAD=…`), `library` is added to them. `first`, unless it is empty, comes before all.
std::string preloaded(Launching& command, const std::string& first, const std::string& library);

}  // namespace chasqui::cli
