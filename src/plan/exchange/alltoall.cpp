// SPDX-License-Identifier: MIT
#include "chasqui/plan/alltoall.hpp"

#include <fmt/core.h>

#include "chasqui/plan/allgather.hpp"
#include "plan/exchange/symmetric_exchange.hpp"
#include "plan/exchange/turns.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::plan {

Time alltoall_bound(const LogP& machine, std::int64_t items) { return allgather_bound(machine, items); }

PlanPtr alltoall(const LogP& machine, std::int64_t items) {
  const Problem problem{.kind = Kind::alltoall, .items = items};
  const Time bound = alltoall_bound(machine, items);  // validates
  if (machine.P == 1) return nothing_to_do(machine, problem);
  Claim claim{{},
              bound,
              "one rank makes k(P-1) sends and as many receptions (exchange.md, Theorem 16)",
              "symmetric: everybody sends to r+1, r+2, ..."};
  SymmetricTimes times = symmetric_times(machine, items * (machine.P - 1));
  std::int64_t last = times.last();
  std::optional<AlltoallTurns> turns;
  if (Time{last} + machine.lambda() > bound) turns = best_turns(machine, items, last);
  if (turns) last = turns->last_send;
  require_horizon(last, machine);
  claim.finish = Time{last} + machine.lambda();
  if (!turns) return symmetric_exchange(machine, problem, std::move(claim), std::move(times));
  claim.construction =
      fmt::format("{} classes in turns, period {}, {} levels", turns->m, turns->period, turns->columns.size());
  return alltoall_in_turns(machine, problem, std::move(claim), std::move(*turns));
}

}  // namespace chasqui::plan
