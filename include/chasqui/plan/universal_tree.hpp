// SPDX-License-Identifier: MIT
// The universal broadcast tree: root label 0, a node labelled t has children t + λ + i·g for i = 0, 1, …
// The P smallest labels are an optimal broadcast (docs/trees.md, Theorem 2), and no table of size P or of size T is
// needed to find a node's place in it: every count is a sum of a few binomial coefficients.
#pragma once

#include <cstdint>

#include "chasqui/model/logp.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui::plan {

/// The two numbers that shape the tree.
struct TreeShape {
  Time lambda;  ///< from a send's begin to the item's availability, at least 1
  Time gap;     ///< between two sends of one node, at least 1

  friend constexpr bool operator==(const TreeShape&, const TreeShape&) = default;
};

/// The shape on which one item spreads fastest: λ = L + 2o, gap = max(g, o).
constexpr TreeShape broadcast_shape(const LogP& machine) { return {machine.lambda(), machine.gap()}; }

/// P(T): the number of nodes with label at most T (0 for T < 0), saturating at 2^63 - 1.
/// Time: O(min(T/λ, T/g)) terms of at most 62 multiplications.
std::int64_t reach(const TreeShape& shape, Time T);

/// P(0) + … + P(T), which is also the sum of T + 1 - label over the nodes with label at most T; saturating.
std::int64_t cumulative_reach(const TreeShape& shape, Time T);

/// B(P): the smallest T with P(T) >= P. Time: O(log λ + log P) calls of reach. REQUIRES P >= 1.
Time broadcast_time(const TreeShape& shape, std::int64_t P);

/// The tree on P nodes, numbered in preorder so that every subtree is an interval. All nodes with a label below
/// B(P) are in it, and the first ones in preorder of label B(P): sum-optimal (trees.md, Corollary 3).
class UniversalTree {
 public:
  /// A node and its subtree, which holds the indices index .. index+size-1.
  struct Node {
    std::int64_t index = 0;        ///< its rank: place in preorder
    std::int64_t parent = -1;      ///< -1: this is the root
    std::int64_t sibling = 0;      ///< it is the parent's child number `sibling`
    Time label;                    ///< when it has the item
    std::int64_t size = 1;         ///< ranks of its subtree, itself included
    std::int64_t children = 0;     ///< how many it serves
    std::int64_t last_before = 0;  ///< nodes of label B(P) before it in preorder, in the unpruned tree
  };

  /// The first P nodes: all below the last label, and the first of the last label in preorder.
  UniversalTree(const TreeShape& shape, std::int64_t P);

  const TreeShape& shape() const { return shape_; }      ///< of the full tree
  std::int64_t size() const { return P_; }               ///< P
  Time finish() const { return finish_; }                ///< B(P), the largest label
  std::int64_t kept_last() const { return kept_last_; }  ///< how many nodes of label B(P) are in the tree

  Node root() const;  ///< rank 0, label 0
  /// Child number i, in the order of sending. REQUIRES 0 <= i < parent.children. Time: a few calls of reach.
  Node child(const Node& parent, std::int64_t i) const;
  /// The node with this preorder index (trees.md, Theorem 6). Time: O(log P · log(T/min(λ, g))) calls of reach; no allocation.
  Node node(std::int64_t index) const;
  /// The node's parent. REQUIRES that it is not the root.
  Node parent(const Node& node) const { return this->node(node.parent); }
  /// How many nodes the subtrees of the first i children hold together.
  std::int64_t size_before_child(const Node& parent, std::int64_t i) const;

 private:
  Time remaining(const Node& node) const { return finish_ - node.label; }
  std::int64_t last_within(Time remaining) const;
  std::int64_t last_below(Time remaining) const;
  std::int64_t kept_size(Time remaining, std::int64_t last_before) const;
  Node complete(Node node) const;
  Node first_descendant(const Node& node, std::int64_t generations) const;

  TreeShape shape_;
  std::int64_t P_;
  Time finish_;
  std::int64_t kept_last_;
};

}  // namespace chasqui::plan
