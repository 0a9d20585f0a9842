// SPDX-License-Identifier: MIT
// The board of one node, in a window that its processes share.
#pragma once

#include <mpi.h>

#include <memory>

#include "run/board/board.hpp"

namespace chasqui::mpi {

/// Collective over `node`, a communicator of ranks on one node (not kept). The window is freed with the board, also
/// collectively; nullptr on every rank if the library refuses. `cores`: what cores_of(node) says; `ring`: bytes that a rank's
/// stage may move through, as far as the last cache and the memory for windows allow.
std::shared_ptr<run::Board> make_board(MPI_Comm node, int cores, std::size_t ring);

int cores_of(MPI_Comm node);  ///< collective: how many cores its ranks may run on, all together

}  // namespace chasqui::mpi
