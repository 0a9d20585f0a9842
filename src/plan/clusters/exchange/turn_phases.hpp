// SPDX-License-Identifier: MIT
// In which turns of an exchange no reception meets a send (docs/clusters.md, Theorem 29). In turn u rank x sends to rank x + u of other
// nodes, counted around the end of the node.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/clusters/exchange/exchange_parts.hpp"

namespace chasqui::plan {

/// The turns first .. end-1.
struct TurnRange {
  std::int64_t first = 0, end = 0;
};
using TurnRanges = std::vector<TurnRange>;  ///< apart, ascending

std::int64_t turns_in(const TurnRanges& ranges);
TurnRanges without(const TurnRanges& ranges, const TurnRange& cut);

class TurnPhases {
 public:
  /// Every rank sends at the begin of its steps. On equal clocks a reception would begin `phase` ticks after a step does. REQUIRES
  /// length >= 2 * o, length > 0, clocks that lie within a step.
  TurnPhases(std::int64_t o, std::int64_t length, std::int64_t phase, const Clocks& clocks)
      : o_(o), length_(length), phase_(phase % length), clocks_(clocks) {}

  /// Those of `turns` in which no reception meets a send if rank x has clock x, or, backwards, clock n - x. Time: O(turns.size()).
  TurnRanges possible(TurnRanges turns, bool backwards) const;

 private:
  template <typename Visit>
  void for_meetings(std::int64_t behind, const Visit& visit) const;

  std::int64_t o_, length_, phase_;
  Clocks clocks_;
};

}  // namespace chasqui::plan
