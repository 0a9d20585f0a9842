// SPDX-License-Identifier: MIT
// What several ranks of a node see of the network that they share.
#pragma once

#include "chasqui/run/choose.hpp"
#include "run/messages/lanes.hpp"

namespace chasqui::run {

/// Was measured what a node can send? Where not, the bytes of one rank are taken to fill its adapter.
bool knows_nodes(const Level& network);

/// From one message of a node to its next, whichever rank sends it.
double node_gap(const Level& network, double bytes);
/// What a byte of a node costs its adapter, whichever rank sends it.
double node_gap_per_byte(const Level& network);

/// The machine as the ranks of one place see it while those of so many places send: each has a part of the adapter, and with every lane at
/// work messages cost what was measured with as many.
Profile with_shared_adapter(const Profile& profile, const Topology& topology, int lanes);

/// As many ranks on as many nodes, as far as possible of the sizes of the largest and of the smallest: what really lies where is not known
/// here, and seldom more than that. Large ones first.
Nodes sizes_alike(const Topology& topology);
/// Where the rank in the middle lies: a root is taken to be on such a node.
std::int64_t usual_node(const Nodes& nodes);

/// Collectives of which all ranks do the same.
constexpr bool symmetric(Kind kind) { return kind == Kind::allreduce || kind == Kind::barrier; }
/// What the lanes of a node tell it lies in slots; those of larger boards may be shorter.
bool fits_slot(const Query& query, const Topology& topology);

/// What lanes with whole values see of the machine.
LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
