// SPDX-License-Identifier: MIT
// The names of the collectives, and what they have in common.
#pragma once

#include <string_view>

namespace chasqui {
/// The collectives.
enum class Kind {
  broadcast,       ///< items 0..k-1 from the root to all
  scatter,         ///< item r from the root to rank r
  gather,          ///< item r from rank r to the root
  allgather,       ///< rank r owns items rk .. rk+k-1; everybody gets all
  alltoall,        ///< item pP+q from rank p to rank q
  reduce,          ///< the fold of one contribution per rank, at the root
  allreduce,       ///< the fold of one contribution per rank, at every rank
  reduce_scatter,  ///< every rank contributes a block for each; rank r gets the fold of all blocks r
  scan,            ///< rank i gets the fold of ranks 0..i (exclusive: 0..i-1)
  barrier,         ///< everybody hears, directly or not, from everybody
  sum,             ///< n operands, placed by the plan, folded at the root; an addition takes one tick
  stream,          ///< one new item from the root every step, for ever, to all
};

/// The kinds whose messages carry folds of contributions instead of items.
constexpr bool combines(Kind kind) {
  return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::reduce_scatter || kind == Kind::scan ||
         kind == Kind::barrier || kind == Kind::sum;
}

/// The kinds that have a distinguished processor.
constexpr bool has_root(Kind kind) {
  return kind == Kind::broadcast || kind == Kind::scatter || kind == Kind::gather || kind == Kind::reduce ||
         kind == Kind::sum || kind == Kind::stream;
}

std::string_view to_string(Kind kind);  ///< the name that files and the command line use

}  // namespace chasqui
