// SPDX-License-Identifier: MIT
// Whether several ranks of a node should talk to other nodes side by side, and what that takes.
#pragma once

#include <optional>
#include <string>

#include "chasqui/run/choose.hpp"
#include "run/messages/lanes.hpp"

namespace chasqui::run {

/// What a byte of a node costs its adapter, whichever rank sends it.
double node_gap_per_byte(const Level& network);

/// Can this collective go on lanes? Folds are in any order there.
bool takes_lanes(const Query& query, const Topology& topology);

LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile);

/// Two levels with the number of lanes that are of use; nothing where one is as good. Where nodes differ, all count as
/// large as the smallest.
std::optional<Choice> on_lanes(const Query& query, const Topology& topology, const Profile& profile);

/// Why there are lanes, or none, in words; empty where there can be none.
std::string reason_for_lanes(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
