// SPDX-License-Identifier: MIT
// What the ranks of a command preload (LD_PRELOAD), with the drop-in library among it.
#pragma once

#include <string>

#include "cli/launch/launchers.hpp"

namespace chasqui::cli {

/// What we add to a list of libraries.
struct Preload {
  std::string first;  ///< before all of them; empty: nothing
  std::string library;

  /// Behind theirs: so a profiler that wraps MPI's functions sees the program's calls and its own PMPI_ calls end here; behind us it would see nothing.
  std::string behind(const std::string& theirs) const;
};

/// The list that the launcher has without us, and with it all ranks whose words give them none of their own: of the words before it, or of this process's
/// environment.
std::string preloaded(const Launching& command);

/// Adds ours to the lists in the words of the command (`-x LD_PRELOAD=…`, `-genv LD_PRELOAD …`, `env LD_PRELOAD=…`). Once.
void add_to_lists(Launching& command, const Preload& ours);

}  // namespace chasqui::cli
