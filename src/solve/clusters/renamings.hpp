// SPDX-License-Identifier: MIT
// Ranks of a node are alike, and so are nodes of one size: all other names that the ranks of a cluster could have.
#pragma once

#include <functional>
#include <vector>

#include "chasqui/model/cluster.hpp"

namespace chasqui::solve {

/// Calls fits(names), by rank, for one renaming after another, beginning with the names they have. True as soon as one fits; false if none
/// of the first `most` does.
bool any_renaming(const Nodes& nodes, int most, const std::function<bool(const std::vector<Rank>&)>& fits);

}  // namespace chasqui::solve
