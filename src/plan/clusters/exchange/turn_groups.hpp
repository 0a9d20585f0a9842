// SPDX-License-Identifier: MIT
// When the ranks of equal nodes send to all ranks of other nodes. In turn u rank x sends to rank x + u of every other node, one a step.
// Turns whose receptions meet no sends on the same clocks are a group and follow each other at once (docs/clusters.md, Theorem 29).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/clusters/exchange/turn_phases.hpp"

namespace chasqui::plan {

struct TurnGroup {
  std::int64_t begin = 0;   ///< of its first step
  std::int64_t length = 0;  ///< ticks from one step to the next
  Clocks clocks;
  std::int64_t multiplier = 1;  ///< rank x has clock x * multiplier, counted around the end
  std::int64_t steps =
      0;               ///< from the begin of a turn to the next: its messages, and one step without where it is needed
  TurnRanges turns{};  ///< ascending
  std::int64_t count = 0;  ///< of the turns

  std::int64_t batch = kSaturated,
               rest = 0;  ///< after so many steps, counted from the first, so many ticks pass unused

  /// Begin of a step, on the first clock.
  std::int64_t start(std::int64_t step) const { return begin + step * length + step / batch * rest; }
  /// How far the clock of a rank of the node is behind.
  std::int64_t offset(std::int64_t lane) const { return clocks.offset(lane * multiplier % clocks.n); }
};

struct TurnGroups {
  std::vector<TurnGroup> groups;
  std::int64_t finish = 0;  ///< when the last message is there
};

/// `messages` a turn for every rank. The first of several ways to choose the length of a step that ends earliest. Throws an Error where it would
/// take more than kMaxTime ticks. Time: O(1), no more than some ten thousand operations.
TurnGroups turn_groups(const Cluster& cluster, const Problem& problem, std::int64_t messages);

}  // namespace chasqui::plan
