// SPDX-License-Identifier: MIT
// The tree inside a schedule: how one item spreads, or how contributions flow together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {
/// One rank in the tree.
struct TreeNode {
  Rank rank;        ///< who
  Time label;       ///< spreading: when the item is available; gathering: when the send begins (root: all is there)
  int parent = -1;  ///< index into Tree::nodes
  int depth = 0;    ///< 0 at the root
  std::int64_t operands = -1;  ///< sum: how many operands the rank holds
  std::vector<int> children;   ///< in the order of their messages
};
/// How one item spreads, or how contributions flow together.
struct Tree {
  std::string title;            ///< heading
  std::string label_meaning;    ///< "time at which the rank has the item"
  std::vector<TreeNode> nodes;  ///< node 0 is the root; parents come before children
  std::int64_t unreached = 0;   ///< ranks that are not in the tree
};

/// The tree of a schedule. broadcast, allgather, stream: of one item (`of`, default 0). allreduce, scan, barrier: of what
/// flows into one rank (`of`; default 0, scan: the last). scatter, gather, reduce, sum: the one there is.
/// Cycles and second receptions of illegal schedules are left out. Throws Error if `of` does not exist.
/// Time: O(n log n) in the messages.
Tree tree_of(const Schedule& schedule, std::optional<std::int64_t> of = {});

}  // namespace chasqui::show
