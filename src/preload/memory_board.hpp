// SPDX-License-Identifier: MIT
// A board in POSIX shared memory. Unlike a window of MPI it is given back by each process alone, so that freeing a
// communicator never waits for another rank.
#pragma once

#include <mpi.h>

#include <memory>

#include "run/board/board.hpp"

namespace chasqui::preload {

/// Collective over `node`, ranks of one machine (not kept); nullptr on every rank if one of them cannot map it.
std::shared_ptr<run::Board> make_memory_board(MPI_Comm node);

}  // namespace chasqui::preload
