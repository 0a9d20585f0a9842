// SPDX-License-Identifier: MIT
// A one-item plan repeated for k items at a fixed distance: legal for any machine, optimal for none.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// The universal tree once for every item, as soon after one another as its busiest rank, the root, allows. Messages
/// carry item indices. `reversed`: k reductions, one per item, instead of k broadcasts.
PlanPtr repeated_tree(const LogP& machine, const Problem& problem, Time bound, std::string bound_source, bool reversed);

/// When repeated_tree finishes.
Time repeated_tree_finish(const LogP& machine, std::int64_t k);

}  // namespace chasqui::plan
