// SPDX-License-Identifier: MIT
#include "chasqui/plan/alltoall.hpp"

#include "chasqui/plan/allgather.hpp"
#include "plan/exchange/symmetric_exchange.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::plan {

Time alltoall_bound(const LogP& machine, std::int64_t items) { return allgather_bound(machine, items); }

PlanPtr alltoall(const LogP& machine, std::int64_t items) {
  const Problem problem{.kind = Kind::alltoall, .items = items};
  const Time bound = alltoall_bound(machine, items);  // validates
  if (machine.P == 1) return nothing_to_do(machine, problem);
  return symmetric_exchange(machine, problem,
                            {{},
                             bound,
                             "one rank makes k(P-1) sends and as many receptions (exchange.md, Theorem 16)",
                             "symmetric: everybody sends to r+1, r+2, ..."});
}

}  // namespace chasqui::plan
