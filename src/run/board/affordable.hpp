// SPDX-License-Identifier: MIT
// How large the board of a further communicator may be. Programs make communicators by the dozen, and keep them: long calls of a
// late one shall not be much slower than those of the first, and all boards together shall stay small beside the node's memory.
#pragma once

#include <cstddef>

#include "run/board/shape.hpp"

namespace chasqui::run {

/// In bytes.
struct BoardMemory {
  std::size_t free;   ///< of the node, for boards
  std::size_t held;   ///< by the boards that this process has
  std::size_t cache;  ///< the last one of a processor; 0: there is none, or nobody knows
};

/// Stages move through rings of `ring` bytes a rank, no more than 64 MiB for all ranks and a quarter of the cache, while boards have
/// 128 MiB together; or through a part of them. Then they are up to 1 MiB long while boards have the 64th part of what is free, at least
/// 128 MiB and at most 512 MiB; then 256 KiB, while they have a quarter more; then the least. A board leaves half of what is free,
/// down to short stages.
BoardShape affordable_shape(int ranks, std::size_t ring, const BoardMemory& memory);

}  // namespace chasqui::run
