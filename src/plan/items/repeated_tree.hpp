// SPDX-License-Identifier: MIT
// The tree of one item, once for every item: legal on any machine (items.md, Theorem 17).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// The universal tree once for every item, as soon after one another as its busiest rank, the root, allows.
/// `reversed`: k reductions, one per item, instead of k broadcasts.
PlanPtr repeated_tree(const LogP& machine, const Problem& problem, const Bound& bound, bool reversed);

/// When repeated_tree finishes.
Time repeated_tree_finish(const LogP& machine, std::int64_t k);

}  // namespace chasqui::plan
