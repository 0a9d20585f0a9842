// SPDX-License-Identifier: MIT
// Whether the arguments of a call are good, in a few instructions: for calls that are. validate() says what is wrong.
#pragma once

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// What a call may need.
inline constexpr std::uint8_t kIn = 1, kOut = 2, kOp = 4;

/// What each kind needs of these. Not inside a function, which would make it anew at every call.
inline constexpr std::uint8_t kNeeds[][2] = {
    // elsewhere, at the root
    {kOut, kOut},              // broadcast
    {kOut, kIn},               // scatter
    {kIn, kOut},               // gather
    {kOut, kOut},              // allgather
    {kOut, kOut},              // alltoall
    {kIn | kOp, kOut | kOp},   // reduce
    {kOut | kOp, kOut | kOp},  // allreduce
    {kOut | kOp, kOut | kOp},  // reduce_scatter
    {kOut | kOp, kOut | kOp},  // scan
    {0, 0},                    // barrier
};

/// What it needs of these and does not have: bits. REQUIRES a kind up to barrier, data.
inline unsigned lacking(const Call& call, int rank) {
  const unsigned has =
      (call.in != nullptr ? kIn : 0u) | (call.out != nullptr ? kOut : 0u) | (call.op.combine != nullptr ? kOp : 0u);
  return kNeeds[static_cast<std::size_t>(call.kind)][call.root == rank] & ~has;
}

/// Whatever the layouts; purely local. REQUIRES that blocks are alike.
inline bool in_range(const Call& call, int rank, int size) {
  constexpr std::int64_t usual = std::int64_t{1} << 15, most = std::int64_t{1} << 46;
  const auto element = static_cast<std::int64_t>(call.element);
  if (call.kind > Kind::barrier) return false;
  if (static_cast<std::uint64_t>(call.count | (element - 1) | size) >= usual) {  // a number is large, or too small
    if (call.count < 0 || element < 1 || call.count > most / element / size) return false;
  }
  if (static_cast<std::uint64_t>(call.root) >= static_cast<std::uint64_t>(size) && has_root(call.kind)) return false;
  return call.count == 0 || lacking(call, rank) == 0;
}

}  // namespace chasqui::run
