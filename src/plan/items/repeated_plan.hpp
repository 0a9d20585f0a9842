// SPDX-License-Identifier: MIT
// A one-item plan repeated for k items at a fixed distance: legal on any machine (items.md, Theorem 17; clusters.md, Theorem 30).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// `once` for every item, on its machine. Messages carry item indices. REQUIRES that nobody has to do with two items at a time. local() and
/// schedule() throw an Error where there is too much to list.
PlanPtr repeated(PlanPtr once, const Problem& problem, Claim claim, Time distance);

/// The universal tree once for every item, as soon after one another as its busiest rank, the root, allows.
/// `reversed`: k reductions, one per item, instead of k broadcasts.
PlanPtr repeated_tree(const LogP& machine, const Problem& problem, const Bound& bound, bool reversed);

/// When repeated_tree finishes.
Time repeated_tree_finish(const LogP& machine, std::int64_t k);

}  // namespace chasqui::plan
