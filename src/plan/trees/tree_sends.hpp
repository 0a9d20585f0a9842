// SPDX-License-Identifier: MIT
// All edges of a universal tree, written down in one depth-first pass.
#pragma once

#include <vector>

#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// One message per edge, parent to child, begun at label(child) - λ, carrying item 0; ranks are preorder indices.
/// Sorted by begin, then sender. Time: O(P) when the labels fit a table, else one sort.
std::vector<Send> tree_sends(const UniversalTree& tree);

}  // namespace chasqui::plan
