// SPDX-License-Identifier: MIT
// All-gather and reduce-scatter on equal nodes in steps: a lane of every node sends what all of the node get, or what all of it gave.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// The claim takes O(1) time, local(r) as much as the rank's own events. Throws an Error where it would take more than kMaxTime ticks.
/// REQUIRES all-gather or reduce-scatter, equal nodes, two or more.
PlanPtr exchange_by_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound);

}  // namespace chasqui::plan
