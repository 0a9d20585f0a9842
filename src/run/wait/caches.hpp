// SPDX-License-Identifier: MIT
// Which ranks of a node are near each other: those whose cores share a last-level cache, on the same socket at least. Read from
// the files that hwloc reads too, four of them a process: loading its whole tree takes milliseconds in every process.
#pragma once

#include <string>
#include <vector>

#include "chasqui/model/grouping.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::run {

/// The last cache, of the third level or above, that all these cores share, else their socket, by the number of its first processor;
/// -1: they share neither, or nobody says. Threads of one core share all. `root`: the folder with what the system says of processors.
int cache_of(const Cores& cores, const std::string& root = "/sys/devices/system/cpu");

/// From the cache of each rank: groups of two ranks or more on several caches. None where they lie in another way.
Grouping groups_by_cache(const std::vector<int>& cache_of_rank);

}  // namespace chasqui::run
