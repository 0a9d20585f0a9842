// SPDX-License-Identifier: MIT
#include "chasqui/plan/allreduce.hpp"

#include "plan/exchange/window_plan.hpp"

namespace chasqui::plan {

PlanPtr allreduce(const LogP& machine, bool commutative) {
  return WindowPlan::make(machine, {.kind = Kind::allreduce, .commutative = commutative});
}

}  // namespace chasqui::plan
