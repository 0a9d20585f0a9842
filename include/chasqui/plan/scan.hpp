// SPDX-License-Identifier: MIT
// Scan (prefix): rank i ends with the fold of ranks 0..i, exclusive: 0..i-1. The operator need not commute.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: B(P) on the postal machine, optimal for every P; on the strict machine the claim states bound and
/// gap. The windows of all-reduce, cut off at rank 0, or a chain when the gap is long. Both kinds have the
/// same messages: every rank also keeps its window without its own contribution. One rank's part: O(its
/// rounds). Source: exchange.md, Theorem 4.
PlanPtr scan(const LogP& machine, bool exclusive = false);

}  // namespace chasqui::plan
