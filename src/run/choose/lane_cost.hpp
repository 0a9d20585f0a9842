// SPDX-License-Identifier: MIT
// Whether several ranks of a node should talk to other nodes side by side, and what that takes.
#pragma once

#include <optional>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "run/choose/lane_way.hpp"
#include "run/choose/network_cost.hpp"
#include "run/choose/piped_cost.hpp"
#include "run/messages/program.hpp"

namespace chasqui::run {

/// Can this collective go on lanes, whatever the machine?
bool takes_lanes(const Query& query, const Topology& topology);

/// The fastest; nothing where no more than one lane is of use. Where nodes differ, a broadcast sees two sizes of nodes, other whole values
/// see all as large as the smallest, led pieces as large as the largest.
std::optional<LaneWay> lane_way(const Query& query, const Topology& topology, const Profile& profile);

/// One rank's program on lanes, `lanes` a node at most: as lane_way() says; of one lane as piped_leaders() says; empty where that is nothing. `shape`, `ranks`: as in lanes.hpp.
Program program_on_lanes(const Shape& shape, const Query& query, std::int64_t lanes, const Nodes& nodes,
                         const std::vector<int>& ranks, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
