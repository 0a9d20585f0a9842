// SPDX-License-Identifier: MIT
// What the two styles with a lane for each rank of a node cost (all_lanes.hpp).
#pragma once

#include "run/choose/lane_way.hpp"

namespace chasqui::run {

LaneWay shares_way(const Query& query, const Topology& topology, const Profile& profile);
/// Is there a program that deals nodes to lanes, and are there nodes to deal?
bool deals_nodes(const Query& query, const Topology& topology);
/// REQUIRES deals_nodes().
LaneWay dealt_way(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
