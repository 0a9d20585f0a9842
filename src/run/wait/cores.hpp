// SPDX-License-Identifier: MIT
// How many cores there are for a process: those that any of its threads may run on, and no more than its share of
// processor time (the quota of its control group) is worth.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace chasqui::run {
/// Cores as a set, so that those of several processes can be joined.
struct Cores {
  std::array<std::uint64_t, 64> mask{};  ///< a bit for each
  int quota = 1 << 30;                   ///< no more than so many at a time

  int count() const;  ///< at least 1
};

Cores process_cores();  ///< of this process, as it is now
int available_cores();  ///< how many these are

/// Puts the calling thread on a core that it may run on and `taken` does not name (a bit each), the `which`-th of them, counted round; afterwards it may run
/// wherever it might before. False: there is no such core, or the system forbids it.
bool move_off(const Cores& taken, int which);

/// The quota of a control group and of those above it, in whole cores, at least 1; 1 << 30 where there is none. `groups` is
/// the text of /proc/self/cgroup, `root` the folder where control groups are mounted.
int quota_cores(const std::string& groups, const std::string& root);

}  // namespace chasqui::run
