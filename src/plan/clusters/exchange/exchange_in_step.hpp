// SPDX-License-Identifier: MIT
// All-gather, reduce-scatter and all-to-all where every node does the same at the same time: what one node does is the whole plan.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// No node has more to do than that.
std::int64_t exchange_in_step_events(const Cluster& cluster, const Problem& problem);

/// Throws an Error where one node has too much to do to list it. REQUIRES equal nodes, two or more.
PlanPtr exchange_in_step(const Cluster& cluster, const Problem& problem, const Bound& bound);

}  // namespace chasqui::plan
