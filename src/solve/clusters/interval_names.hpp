// SPDX-License-Identifier: MIT
// A reduction found backwards in time is a tree of ranks. Its messages can be written down only where what a rank hands over, the
// contributions of its subtree, is one interval of ranks or two (docs/model.md). Which rank of a node, and which of equal nodes, takes
// a place in the tree is free, so here they get names for which it is.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::solve {

/// A tree of all ranks, with new names.
struct NamedTree {
  std::vector<Rank> name;  ///< by rank: its new name; ranks of one node stay together
  std::vector<std::pair<Part, Part>>
      subtree;  ///< by rank: the new names of its subtree, the second part empty if one is enough
};

/// `parent` by rank; that of the root, which keeps its name, is not read. Tries all names with one interval for each subtree, then with
/// two, and gives up after a hundred thousand steps. REQUIRES at most 32 ranks.
std::optional<NamedTree> interval_names(const Nodes& nodes, Rank root, const std::vector<Rank>& parent);

}  // namespace chasqui::solve
