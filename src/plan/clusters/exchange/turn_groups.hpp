// SPDX-License-Identifier: MIT
// When the ranks of equal nodes, or of columns, send to all others. In turn u rank x sends to rank x + u of every other node, one a step.
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

/// Calls visit(begin, u, d, i): item number i of k for those `d` further on, first <= d < end, in turn u, in the step that begins then. REQUIRES
/// k(end - first) messages a turn.
template <typename Visit>
void for_messages(const TurnGroup& group, std::int64_t k, std::int64_t first, std::int64_t end, const Visit& visit) {
  std::int64_t begun = 0;  // step of the turn
  for (const TurnRange& range : group.turns) {
    for (std::int64_t u = range.first; u < range.end; ++u) {
      std::int64_t step = begun;
      for (std::int64_t i = 0; i < k; ++i) {
        for (std::int64_t d = first; d < end; ++d) visit(group.start(step++), u, d, i);
      }
      begun += group.steps;
    }
  }
}

struct TurnGroups {
  std::vector<TurnGroup> groups;
  std::int64_t finish = 0;  ///< when the last message is there
};

/// `messages` a turn for every rank. The first of several ways to choose the length of a step that ends earliest. Throws an Error where it would
/// take more than kMaxTime ticks. Time: O(1), no more than some ten thousand operations.
TurnGroups turn_groups(const Cluster& cluster, const Problem& problem, std::int64_t messages);

}  // namespace chasqui::plan
