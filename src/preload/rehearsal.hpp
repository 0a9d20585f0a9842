// SPDX-License-Identifier: MIT
// What the two sides take before the program makes its first call: in MPI_Init all ranks of one node make the common collectives
// natively and over a board, on buffers of their own, for CHASQUI_REHEARSE milliseconds at most. Short calls come first; what the time
// does not reach is compared when the program calls it. Ranks agree on all figures, so every communicator begins with the same
// expectations on all of its ranks, without a word.
#pragma once

#include <cstddef>

#include "preload/names.hpp"
#include "preload/race.hpp"

namespace chasqui::preload {

/// After open_private(). Collective over MPI_COMM_WORLD; does nothing where it has several nodes, one rank, or more ranks than cores.
void rehearse_world();

/// What was found for so many bytes; nothing for communicators of another number of ranks.
Expected rehearsed(Collective what, std::size_t bytes, int ranks);

}  // namespace chasqui::preload
