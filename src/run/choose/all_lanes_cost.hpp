// SPDX-License-Identifier: MIT
// What the two styles with a lane for each rank of a node cost (all_lanes.hpp).
#pragma once

#include <optional>

#include "run/choose/lane_way.hpp"

namespace chasqui::run {

LaneWay shares_way(const Query& query, const Topology& topology, const Profile& profile);
/// Nothing for two nodes, and where there is no such program.
std::optional<LaneWay> dealt_way(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
