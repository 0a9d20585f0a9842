// SPDX-License-Identifier: MIT
// All-gather, reduce-scatter and all-to-all on equal nodes in which every rank sends to every rank of other nodes, in closed form.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// The claim takes the time of turn_groups, local(r) as much as the rank's own events. Throws an Error where it would take more than kMaxTime ticks.
/// REQUIRES equal nodes.
PlanPtr exchange_in_turns(const Cluster& cluster, const Problem& problem, const Bound& bound);

}  // namespace chasqui::plan
