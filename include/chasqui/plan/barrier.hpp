// SPDX-License-Identifier: MIT
// Barrier: nobody leaves before everybody has come.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: B(P) on the postal machine, optimal for every P; on the strict machine the claim states bound and
/// gap. The windows of all-reduce without payload. They might overlap here, which would save nothing. One
/// rank's part: O(its rounds). Source: exchange.md, Theorem 4.
PlanPtr barrier(const LogP& machine);

}  // namespace chasqui::plan
