// SPDX-License-Identifier: MIT
// Whether the arguments of a call are good, in a few instructions: for calls that are. validate() says what is wrong.
#pragma once

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// Whatever the layouts; purely local. REQUIRES that blocks are alike.
inline bool in_range(const Call& call, int rank, int size) {
  constexpr std::uint8_t in = 1, out = 2, op = 4;
  constexpr std::uint8_t needs[][2] = {
      // elsewhere, at the root
      {out, out},            // broadcast
      {out, in},             // scatter
      {in, out},             // gather
      {out, out},            // allgather
      {out, out},            // alltoall
      {in | op, out | op},   // reduce
      {out | op, out | op},  // allreduce
      {out | op, out | op},  // reduce_scatter
      {out | op, out | op},  // scan
      {0, 0},                // barrier
  };
  constexpr std::int64_t usual = std::int64_t{1} << 15, most = std::int64_t{1} << 46;
  const auto element = static_cast<std::int64_t>(call.element);
  if (call.kind > Kind::barrier) return false;
  if (static_cast<std::uint64_t>(call.count | (element - 1) | size) >= usual) {  // a number is large, or too small
    if (call.count < 0 || element < 1 || call.count > most / element / size) return false;
  }
  if (static_cast<std::uint64_t>(call.root) >= static_cast<std::uint64_t>(size) && has_root(call.kind)) return false;
  if (call.count == 0) return true;
  const unsigned has =
      (call.in != nullptr ? in : 0u) | (call.out != nullptr ? out : 0u) | (call.op.combine != nullptr ? op : 0u);
  return (needs[static_cast<std::size_t>(call.kind)][call.root == rank] & ~has) == 0;
}

}  // namespace chasqui::run
