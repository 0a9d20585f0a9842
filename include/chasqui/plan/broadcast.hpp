// SPDX-License-Identifier: MIT
// One item from the root to all. Finish: B(P), optimal on every LogP machine (docs/trees.md, Theorem 2).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Throws an Error for an invalid machine or root. Planning: O(log) arithmetic; local(r): one message and r's own.
PlanPtr broadcast(const LogP& machine, Rank root = {});

}  // namespace chasqui::plan
