// SPDX-License-Identifier: MIT
// How several ranks of a node talk to other nodes, as decided for a collective.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/run/choose.hpp"
#include "run/messages/all_lanes.hpp"
#include "run/messages/led_pieces.hpp"

namespace chasqui::run {

struct LaneWay {
  enum class Style : std::uint8_t {
    whole,   ///< whole values, along the tree of the cluster or in windows of nodes (lanes.hpp)
    shares,  ///< a share of each value by each rank (all_lanes.hpp)
    dealt,   ///< a message for each other node, by ranks in turn (all_lanes.hpp)
    led,     ///< an all-reduce in pieces (led_pieces.hpp)
    brought,  ///< all contributions on the lanes of another collective, folded in rank order where they are wanted (brought.hpp)
  };
  Style style = Style::whole;
  Choice choice;                      ///< two levels with so many lanes, and what they are predicted to take
  Between between{};                  ///< shares
  std::vector<std::int64_t> radices;  ///< dealt: of the rounds of an all-gather or a scan
  LedPieces pieces{};                 ///< led
};

}  // namespace chasqui::run
