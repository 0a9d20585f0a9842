// SPDX-License-Identifier: MIT
#include "chasqui/plan/allgather.hpp"

#include <algorithm>
#include <memory>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/allgather_symmetric.hpp"

namespace chasqui::plan {
namespace {

void require_size(const LogP& machine, std::int64_t items) {
  if (saturating_multiply(machine.P, items) > kMaxProcessors) {
    throw Error("allgather: P={} ranks with {} items each are more than 2^31 items: use fewer items", machine.P, items);
  }
  const std::int64_t slot = std::max(machine.gap().ticks, 2 * machine.o.ticks);
  require_horizon(saturating_add(saturating_multiply(items * (machine.P - 1), slot), machine.lambda().ticks), machine);
}

}  // namespace

PlanPtr allgather(const LogP& machine, std::int64_t items) {
  validate(machine);
  const Problem problem{.kind = Kind::allgather, .items = items};
  validate(problem, machine);
  require_size(machine, items);
  Claim claim;
  claim.bound = allgather_bound(machine, items);
  claim.bound_source = "one rank makes k(P-1) sends and as many receptions (results.md A5)";
  claim.construction = "symmetric: everybody sends its own items to r+1, r+2, ...";
  if (machine.P == 1) {
    return std::make_shared<SymmetricAllgather>(machine, problem, claim, SymmetricTimes{});
  }
  SymmetricTimes times = symmetric_times(machine, items * (machine.P - 1));
  require_horizon(times.last(), machine);
  claim.finish = Time{times.last()} + machine.lambda();
  return std::make_shared<SymmetricAllgather>(machine, problem, claim, std::move(times));
}

}  // namespace chasqui::plan
