// SPDX-License-Identifier: MIT
// The board of one node, in POSIX shared memory. Unlike a window of MPI it is given back by each process alone, so that
// freeing a communicator never waits for another rank, and it is reserved before anybody touches it: where /dev/shm is
// small there is no board, and no bus error.
#pragma once

#include <memory>

#include "mpi/node_ranks.hpp"
#include "run/board/board.hpp"

namespace chasqui::mpi {

/// Collective over all nodes; nullptr on every rank if one of them, on whatever node, cannot map its own. `cores`: what
/// cores_of(node) says; `ring`: bytes that a rank's stage may move through, as far as the last cache and the memory allow;
/// below 1 MiB, the stage has no more either.
std::shared_ptr<run::Board> make_board(const NodeRanks& node, int cores, std::size_t ring);

/// Collective over all nodes: how many cores the ranks of this one may run on, all together.
int cores_of(const NodeRanks& node);

}  // namespace chasqui::mpi
