// SPDX-License-Identifier: MIT
// All-gather and reduce-scatter on nodes of any size with equally many lanes in every node, of which a rank of a small node has several
// (clusters.md, Theorem 49).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// The best of several numbers of lanes, or nothing.
PlanPtr exchange_by_node_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound);
/// With so many, or nothing where no short step was found. REQUIRES two nodes or more, an all-gather or a reduce-scatter.
PlanPtr exchange_by_node_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound, std::int64_t lanes);

}  // namespace chasqui::plan
