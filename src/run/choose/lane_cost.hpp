// SPDX-License-Identifier: MIT
// Whether several ranks of a node should talk to other nodes side by side, and what that takes.
#pragma once

#include <optional>
#include <string>

#include "chasqui/run/choose.hpp"
#include "run/messages/all_lanes.hpp"
#include "run/messages/lanes.hpp"
#include "run/messages/led_pieces.hpp"

namespace chasqui::run {

/// What a byte of a node costs its adapter, whichever rank sends it.
double node_gap_per_byte(const Level& network);

/// Can this collective go on lanes, whatever the machine?
bool takes_lanes(const Query& query, const Topology& topology);

LaneCosts lane_costs(const Query& query, const Topology& topology, const Profile& profile);

/// How several ranks of a node talk to other nodes.
struct LaneWay {
  enum class Style : std::uint8_t {
    whole,   ///< whole values, along the tree of the cluster or in windows of nodes (lanes.hpp)
    shares,  ///< all_lanes.hpp
    dealt,
    led  ///< an all-reduce in pieces (led_pieces.hpp)
  };
  Style style = Style::whole;
  Choice choice;                      ///< two levels with so many lanes, and what they are predicted to take
  Between between{};                  ///< shares
  std::vector<std::int64_t> radices;  ///< dealt: of the rounds of an all-gather or a scan
  LedPieces pieces{};                 ///< led
};
/// The fastest; nothing where no more than one lane is of use. Where nodes differ, whole values see all as large as the smallest, led
/// pieces as large as the largest, and there is no other style.
std::optional<LaneWay> lane_way(const Query& query, const Topology& topology, const Profile& profile);

/// One leader a node with a long value in items, whose boards work while messages are under way (piped.hpp).
struct Piped {
  std::int64_t items = 1;
  double nanoseconds = 0;
};
/// With the best number of items; nothing where it is not faster than messages and boards one after the other.
std::optional<Piped> piped_leaders(const Query& query, const Topology& topology, const Profile& profile);

/// One rank's program on lanes, `lanes` a node at most: as lane_way() says; of one lane as piped_leaders() says; empty where that is nothing. `shape`, `ranks`: as in lanes.hpp.
Program program_on_lanes(const Shape& shape, const Query& query, std::int64_t lanes, const Nodes& nodes,
                         const std::vector<int>& ranks, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
