// SPDX-License-Identifier: MIT
// The plan of a kernel: steady state and endgame expanded for k items. A rank needs its phase and the table.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

/// `step`: ticks of a postal step. schedule() takes O(kP), one pass in canonical order. REQUIRES a kernel of P-1 receivers
/// without errors, k >= kappa and k > k*.
PlanPtr kernel_plan(const LogP& machine, const Problem& problem, Claim claim, Kernel kernel, Time step);

}  // namespace chasqui::plan::kernel
