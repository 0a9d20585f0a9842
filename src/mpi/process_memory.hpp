// SPDX-License-Identifier: MIT
// Processes of one node that read and write each other's memory through the kernel.
#pragma once

#include <memory>

#include "mpi/node_ranks.hpp"
#include "run/board/process_memory.hpp"

namespace chasqui::mpi {

/// Collective over all nodes. nullptr on every rank unless each has read a word of the memory of each other on its node and
/// written one: it may be forbidden (ptrace scope, containers, another user), and a number of a process may mean another
/// one elsewhere. Also nullptr where `wanted` is false on any rank, or CHASQUI_REACH is 0.
std::shared_ptr<run::ProcessMemory> open_process_memory(const NodeRanks& node, bool wanted);

}  // namespace chasqui::mpi
