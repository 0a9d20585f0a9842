// SPDX-License-Identifier: MIT
// What collectives of a kind have in common, whoever makes them: who gives blocks, who waits for whom.
#pragma once

#include "chasqui/model/kind.hpp"

namespace chasqui::run {

/// Does a rank that gives anything give a block to each rank?
constexpr bool gives_blocks(Kind kind) {
  return kind == Kind::scatter || kind == Kind::alltoall || kind == Kind::reduce_scatter;
}
/// Do blocks of all ranks lie side by side, at the root or everywhere?
constexpr bool has_blocks(Kind kind) { return gives_blocks(kind) || kind == Kind::allgather || kind == Kind::gather; }
/// Does the root alone give?
constexpr bool root_gives(Kind kind) { return kind == Kind::broadcast || kind == Kind::scatter; }
/// Does no rank leave before all have come?
constexpr bool meets(Kind kind) {
  return kind == Kind::barrier || kind == Kind::allreduce || kind == Kind::allgather || kind == Kind::alltoall ||
         kind == Kind::reduce_scatter;
}

}  // namespace chasqui::run
