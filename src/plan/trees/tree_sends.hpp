// SPDX-License-Identifier: MIT
// The edges of a universal tree: all of them in one depth-first pass, or those of one node.
#pragma once

#include <vector>

#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// One message per edge, parent to child, begun at label(child) - λ, carrying item 0; ranks are preorder indices.
/// Sorted by begin, then sender. Time: O(P) when the labels fit a table, else one sort.
std::vector<Send> tree_sends(const UniversalTree& tree);

/// visit(index, size, label) for the children of a node, the last one first: it has the fewest ranks, the right-most
/// ones, and in a tree run backwards it reports first, so that folding goes from right to left.
template <typename Visit>
void for_children(const UniversalTree& tree, const UniversalTree::Node& node, Visit visit) {
  std::int64_t end = node.size - 1;  // ranks below the node, counted from its first child on
  for (std::int64_t i = node.children - 1; i >= 0; --i) {
    const std::int64_t begin = tree.size_before_child(node, i);
    visit(node.index + 1 + begin, end - begin, node.label + tree.shape().lambda + i * tree.shape().gap);
    end = begin;
  }
}

}  // namespace chasqui::plan
