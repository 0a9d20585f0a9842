// SPDX-License-Identifier: MIT
#include "chasqui/plan/scan.hpp"

#include <memory>

#include "chasqui/base/arithmetic.hpp"
#include "plan/exchange/chain_scan.hpp"
#include "plan/exchange/window_plan.hpp"

namespace chasqui::plan {

PlanPtr scan(const LogP& machine, bool exclusive) {
  const Problem problem{.kind = Kind::scan, .commutative = false, .exclusive = exclusive};
  PlanPtr windows = WindowPlan::make(machine, problem);
  const Time chain{saturating_multiply(machine.P - 1, machine.lambda().ticks)};
  if (chain >= windows->claim().finish) return windows;
  Claim claim = windows->claim();
  claim.finish = chain;
  claim.construction = "chain: rank r passes the fold of 0..r on to r+1";
  return std::make_shared<ChainScan>(machine, problem, std::move(claim));
}

}  // namespace chasqui::plan
