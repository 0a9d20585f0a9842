// SPDX-License-Identifier: MIT
// All-gather and reduce-scatter on nodes of any size in which the first ranks of a node are its lanes, in closed form.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// clusters.md, Theorem 45. Nothing where no step was found that has room for all that is done in it. local(r) takes as much as the rank's own events. REQUIRES
/// two nodes or more, one of them of two ranks or more.
PlanPtr exchange_by_first_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound);

}  // namespace chasqui::plan
