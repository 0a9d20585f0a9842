// SPDX-License-Identifier: MIT
// All-gather, reduce-scatter and all-to-all on nodes of any size in which every rank sends to every rank of other nodes, in closed form.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// clusters.md, Theorem 44. The claim takes the time of turn_groups, local(r) as much as the rank's own events. Throws an Error where it would take
/// more than kMaxTime ticks. REQUIRES two nodes or more, one of them of two ranks or more.
PlanPtr exchange_in_columns(const Cluster& cluster, const Problem& problem, const Bound& bound);

}  // namespace chasqui::plan
