// SPDX-License-Identifier: MIT
// One step of a plan in which every rank does the same in every step: a send at its begin, a reception at a time that follows from
// the latency, and publications and readings in between (docs/clusters.md, Lemma 28).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

/// Times are counted from the begin of the step. Nothing reaches beyond its end.
struct StepLayout {
  std::int64_t length = 0;     ///< ticks from one step to the next
  std::int64_t reception = 0;  ///< when the receive overhead begins of what was sent at the begin of an earlier step
  std::int64_t flight = 0;     ///< how many steps earlier
  std::vector<std::int64_t> publications, readings;  ///< their begins, ascending
};

/// A step of so many ticks with so many publications and readings; nothing where they do not fit. One publication at least comes
/// after the reception where that costs nothing. Time: O(publications + readings).
std::optional<StepLayout> step_layout(const Cluster& cluster, std::int64_t length, std::int64_t publications,
                                      std::int64_t readings);

/// The shortest step of `least` ticks or more in which they fit. REQUIRES least >= max(1, g, o), publications, readings >= 0.
StepLayout shortest_step(const Cluster& cluster, std::int64_t least, std::int64_t publications, std::int64_t readings);

}  // namespace chasqui::plan
