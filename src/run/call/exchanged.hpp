// SPDX-License-Identifier: MIT
// Where the blocks of an all-to-all or reduce-scatter lie, alike or of different lengths.
#pragma once

#include <algorithm>

#include "chasqui/run/call.hpp"

namespace chasqui::run {

/// Bytes of block r, one of those described by `blocks`.
inline std::size_t block_bytes(const Call& call, const Blocks& blocks, int r) {
  return blocks.counts == nullptr ? call.bytes() : static_cast<std::size_t>(blocks.counts[r]) * call.element;
}
/// Where it begins, in bytes.
inline std::size_t block_begin(const Call& call, const Blocks& blocks, int r) {
  const auto place = static_cast<std::size_t>(r);
  return blocks.counts == nullptr ? place * call.bytes() : static_cast<std::size_t>(blocks.first[r]) * call.element;
}

/// An all-to-all whose lists of blocks say that this rank gives nothing: its input may be missing, and it is not in place.
inline bool gives_nothing(const Call& call, int ranks) {
  const std::int64_t* const counts = call.in_blocks.counts;
  return call.kind == Kind::alltoall && counts != nullptr &&
         std::all_of(counts, counts + ranks, [](std::int64_t each) { return each == 0; });
}

/// What this rank gives to rank r.
inline const std::byte* given_to(const Call& call, int r) {
  return static_cast<const std::byte*>(call.in) + block_begin(call, call.in_blocks, r);
}

/// What this rank gets from rank r: of a reduce-scatter the same from all, its own block.
struct Gotten {
  std::size_t at;  ///< in `out`, bytes
  std::size_t bytes;
};
inline Gotten gotten_from(const Call& call, int me, int r) {
  if (call.kind == Kind::alltoall)
    return {block_begin(call, call.out_blocks, r), block_bytes(call, call.out_blocks, r)};
  return {0, block_bytes(call, call.in_blocks, me)};
}

/// The largest block that this rank gives or gets.
inline std::size_t largest_block(const Call& call, int ranks) {
  if (!call.uneven()) return call.bytes();
  std::size_t most = 0;
  for (int r = 0; r < ranks; ++r) {
    most = std::max(most, block_bytes(call, call.in_blocks, r));
    if (call.kind == Kind::alltoall) most = std::max(most, block_bytes(call, call.out_blocks, r));
  }
  return most;
}

}  // namespace chasqui::run
