// SPDX-License-Identifier: MIT
// Scatter and gather in closed form (docs/clusters.md, Theorem 27): the root and its node do the same in every period, so that every
// time follows from a number. Nothing grows with the number of ranks but what a rank itself does.
#pragma once

#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// Are all times of such a plan far below 2^63 ticks?
bool fits_in_periods(const Cluster& cluster);

/// Of a scatter or a gather. local() of the root, of a rank of its node, or of a leader throws an Error where that rank has more
/// than ten million things to do; schedule() where there are too many to list. REQUIRES fits_in_periods.
PlanPtr scatter_in_periods(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound);

}  // namespace chasqui::plan
