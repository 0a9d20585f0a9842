// SPDX-License-Identifier: MIT
// Direct balancing: share the leaves of one item's tree out among the blocks so that every block's word can be ordered.
// Letters are written as co-letters y = L-1-x (x = steps until the item completes), which keep their value when trees
// are put together. A block of q ranks wants q-1 co-letters with a prescribed sum modulo q (docs/streams.md, Corollary 6).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace chasqui::plan::stream_detail {

/// A multiset of co-letters.
using Letters = std::map<std::int32_t, std::int64_t>;

inline std::int64_t size_of(const Letters& letters) {
  std::int64_t size = 0;
  for (const auto& [y, count] : letters) size += count;
  return size;
}

inline std::int64_t sum_of(const Letters& letters) {
  std::int64_t sum = 0;
  for (const auto& [y, count] : letters) sum += y * count;
  return sum;
}

/// A block wants q-1 co-letters with sum = residue (mod q).
struct Demand {
  std::int32_t q = 1;
  std::int32_t residue = 0;
};

/// All blocks of one tree, the root's first, and the leaves. Letters minus places is 1 (a receive-only rank
/// takes one) or 0 (no receive-only rank).
struct Instance {
  std::vector<Demand> blocks;
  Letters pool;
  std::int32_t L = 1;
  /// Strong form, what composition needs: the receive-only rank takes K and the root's letters sum to exactly K·q.
  std::optional<std::int32_t> K;
};

struct Balanced {
  std::vector<Letters> letters;              ///< one per block
  std::optional<std::int32_t> receive_only;  ///< the co-letter of the receive-only rank
};

/// A solution, or nothing after a portfolio of deterministic variants. `effort` is the number of variants.
std::optional<Balanced> balance(const Instance& instance, int effort);

}  // namespace chasqui::plan::stream_detail
