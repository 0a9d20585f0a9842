// SPDX-License-Identifier: MIT
#include "chasqui/plan/barrier.hpp"

#include "plan/exchange/window_plan.hpp"

namespace chasqui::plan {

PlanPtr barrier(const LogP& machine) { return WindowPlan::make(machine, {.kind = Kind::barrier}); }

}  // namespace chasqui::plan
