// SPDX-License-Identifier: MIT
#include "chasqui/plan/reduce_scatter.hpp"

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "plan/cut.hpp"
#include "plan/exchange/symmetric_exchange.hpp"
#include "plan/listed_plan.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::plan {

PlanPtr reduce_scatter(const LogP& machine, std::int64_t items, bool commutative) {
  const Problem problem{.kind = Kind::reduce_scatter, .items = items, .commutative = commutative};
  const Time bound = allgather_bound(machine, items);  // validates
  if (machine.P == 1) return nothing_to_do(machine, problem);
  PlanPtr forward = commutative ? allgather(machine, items)
                                : symmetric_exchange(machine, {.kind = Kind::allgather, .items = items},
                                                     {{},
                                                      bound,
                                                      "one rank makes k(P-1) sends and as many receptions",
                                                      "symmetric: everybody sends its own items to r+1, r+2, ..."});
  Claim claim = forward->claim();
  claim.bound_source = "a reduce-scatter run backwards is an all-gather; " + claim.bound_source;
  if (!claim.optimal() && !commutative) {
    if (PlanPtr straight = alltoall(machine, items); straight->claim().finish < claim.finish)
      return reduce_scatter_by_alltoall(problem, straight, std::move(claim));
  }
  claim.construction += ", reversed";
  return std::make_shared<ReversedPlan>(machine, problem, std::move(claim), std::move(forward));
}

}  // namespace chasqui::plan
