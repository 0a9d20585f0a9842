// SPDX-License-Identifier: MIT
// A plan of one item repeated for many, at a fixed distance (items.md, Theorem 17; clusters.md, Theorem 30).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// `once` for every item, on its machine. Messages carry item indices. REQUIRES that nobody has to do with two items at a time. local() and
/// schedule() throw an Error where there is too much to list.
PlanPtr repeated(PlanPtr once, const Problem& problem, Claim claim, Time distance);

}  // namespace chasqui::plan
