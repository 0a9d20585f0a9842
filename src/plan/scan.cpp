// SPDX-License-Identifier: MIT
#include "chasqui/plan/scan.hpp"

#include "plan/window_plan.hpp"

namespace chasqui::plan {

PlanPtr scan(const LogP& machine, bool exclusive) {
  return WindowPlan::make(machine, {.kind = Kind::scan, .commutative = false, .exclusive = exclusive});
}

}  // namespace chasqui::plan
