// SPDX-License-Identifier: MIT
// A stream as a list of block types with multiplicities: its size depends on L and log P only.
// A node of potential r and label t-L+1-r has children at labels d+L .. t; it may miss the last few of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/growth.hpp"
#include "plan/stream/balance.hpp"

namespace chasqui::plan::stream_detail {

/// q ranks that take turns playing a node of this potential, and the co-letters they receive in between.
struct BlockType {
  std::int64_t potential = 1;
  std::int64_t missing = 0;  ///< children the node lacks; it has potential - missing
  std::int32_t q = 1;        ///< ranks: one per child, or one more when no rank is receive-only
  Letters letters;

  std::int64_t children() const { return potential - missing; }
  friend bool operator==(const BlockType&, const BlockType&) = default;
  friend bool operator<(const BlockType& a, const BlockType& b) {
    return std::tie(a.potential, a.missing, a.q, a.letters) < std::tie(b.potential, b.missing, b.q, b.letters);
  }
};

struct Recipe {
  std::int64_t L = 1;
  std::int64_t t = 0;  ///< an item is complete t steps after it reached the root of its tree
  std::map<BlockType, std::int64_t> blocks;
  std::optional<std::int32_t> receive_only;  ///< co-letter
};

/// The internal nodes of a tree: (potential, missing children) -> how many.
using Heads = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/// The internal nodes of the tree on f_{t-1} + u nodes: of the full tree's, s = f_{t-L} - u lose the child of
/// label t. Those with the least potential do, except that one of potential `spared` passes it on to one of
/// potential `instead` (0: none). Nothing if there is no such node.
std::optional<Heads> pruned_heads(const Growth& f, std::int64_t t, std::int64_t u, std::int64_t spared = 0,
                                  std::int64_t instead = 0);

/// The leaves of the tree with these internal nodes, as co-letters. REQUIRES the root among the heads, or t = 0.
Letters leaves(std::int64_t L, std::int64_t t, const Heads& heads);

/// A balanced base case; the root's block is apart because composition makes it grow.
struct BaseCase {
  BlockType root;
  std::map<BlockType, std::int64_t> others;
  std::optional<std::int32_t> receive_only;
};

/// Blocks with their letters, the root's first.
struct BalancedBlocks {
  std::vector<BlockType> blocks;
  std::optional<std::int32_t> receive_only;
};

/// Shares the letters of `pool` out among the blocks of these heads, in the strong form if K is given. REQUIRES few heads:
/// they are listed one by one.
std::optional<BalancedBlocks> balance_heads(std::int64_t L, const Heads& heads, Letters pool,
                                            std::optional<std::int32_t> K, int effort);

/// The same with the leaves of the tree of height t.
std::optional<BaseCase> balance_tree(std::int64_t L, std::int64_t t, const Heads& heads, std::optional<std::int32_t> K,
                                     int effort);

/// The tree on f_{t-1} + u nodes, trying other choices of the pruned nodes if the usual one resists.
std::optional<BaseCase> direct(const Growth& f, std::int64_t t, std::int64_t u, std::optional<std::int32_t> K);

/// How the pieces of a composition change: nothing, or every node lacks its last child (potential and missing
/// children go up by one, co-letters down).
enum class Shift { none, one };

/// The base case as it is: a stream on its own tree of height t.
Recipe alone(const BaseCase& base, std::int64_t L, std::int64_t t);

/// Adds `times` root blocks of the base case, grown by `growth` letters K; or `times` copies of all its other blocks.
void add_roots(Recipe& recipe, const BaseCase& base, std::int64_t times, std::int64_t growth, std::int32_t K,
               Shift shift);
void add_others(Recipe& recipe, const BaseCase& base, std::int64_t times, Shift shift);

/// Do block sizes, residues and letters fit the tree on n nodes? (One check per plan, O(size of the recipe + t).)
bool is_sound(const Recipe& recipe, std::int64_t n);

}  // namespace chasqui::plan::stream_detail
