// SPDX-License-Identifier: MIT
// Where the nodes of a tree go: level by depth, siblings side by side, subtrees as close as their outlines allow,
// parents over the middle of their children (the drawing of Reingold and Tilford, with whole outlines).
#pragma once

#include <vector>

#include "chasqui/show/draw.hpp"

namespace chasqui::show {

/// The position of every node across the levels, in units of the least distance between neighbours; the least is 0.
/// Time: O(nodes * depth).
std::vector<double> tree_layout(const Tree& tree);

}  // namespace chasqui::show
