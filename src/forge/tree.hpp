// SPDX-License-Identifier: MIT
// The broadcast tree of one item as a multiset of heights: a node of height h >= L may have children of heights
// at most h-L; here they are consecutive: first, first-1, ..., except that one node may leave out one height inside.
// Kernels are searched among such trees.
#pragma once

#include <optional>
#include <vector>

#include "chasqui/base/random.hpp"
#include "plan/kernel/counting.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

/// A node with r children of heights first, first-1, ...; with 0 < hole < r the height first-hole is left out.
/// INVARIANT first <= h-L when r > 0.
struct Node {
  int h = 0;
  int r = 0;
  int first = 0;
  int hole = 0;

  /// Steps from the first child's to after the last child's.
  int length() const { return r + (hole > 0 ? 1 : 0); }
  friend bool operator==(const Node&, const Node&) = default;
};

struct Tree {
  int D = 0;
  std::vector<Node> internal;
  std::vector<int> leaves;  ///< leaves[h]: how many leaves have height h, 0..D
};

/// An optimal tree on M nodes of depth n+1, heights raised by j, then made later by `lateness` in total: a random
/// node gives its first or last child, a leaf, to a node where it comes later. Nothing if the walk gets stuck.
/// Time: O(lateness * M).
/// full_root: the root has all the children it can have, and no node leaves out a height.
std::optional<Tree> random_tree(const Counting& counting, int j, std::int64_t lateness, Random& random,
                                bool full_root = false);

}  // namespace chasqui::forge
