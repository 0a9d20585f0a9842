// SPDX-License-Identifier: MIT
// The board of one node, in POSIX shared memory. Unlike a window of MPI it is given back by each process alone, so that
// freeing a communicator never waits for another rank, and it is reserved before anybody touches it: where /dev/shm is
// small there is no board, and no bus error.
#pragma once

#include <mpi.h>

#include <memory>

#include "run/board/board.hpp"

namespace chasqui::mpi {

/// Collective over `node`, a communicator of ranks on one node (not kept); nullptr on every rank if one of them cannot
/// map it. `cores`: what cores_of(node) says; `ring`: bytes that a rank's stage may move through, as far as the last
/// cache and the memory allow; below 1 MiB, the stage has no more either.
std::shared_ptr<run::Board> make_board(MPI_Comm node, int cores, std::size_t ring);

int cores_of(MPI_Comm node);  ///< collective: how many cores its ranks may run on, all together

}  // namespace chasqui::mpi
