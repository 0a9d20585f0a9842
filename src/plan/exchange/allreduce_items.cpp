// SPDX-License-Identifier: MIT
// All-reduce of several items: a reduce-scatter and an all-gather, or a reduction and a broadcast, one after the other
// (exchange.md, Theorem 22).
#include <fmt/core.h>

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "plan/in_turn_plan.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::plan {
Bound allreduce_items_bound(const LogP& machine, std::int64_t items) {
  Bound bound = allreduce_bound(machine);
  if (machine.P < 2) return bound;
  if (const Bound reduction = least_kitem_time(machine, items); reduction.time > bound.time)
    bound = {reduction.time, fmt::format("to each rank it is a reduction; {}", reduction.source)};
  // Every item takes 2(P-1) messages, so some rank sends this often, and some rank has this many sends and receptions.
  const std::int64_t messages = checked_multiply(2 * (machine.P - 1), items, "the number of messages");
  const std::int64_t sends = divide_up(messages, machine.P);
  const std::int64_t both = divide_up(checked_multiply(2, messages, "the number of messages"), machine.P);
  const Time by_gap = machine.lambda() + Time{checked_multiply(sends - 1, machine.gap().ticks, "the finish")};
  const Time by_overhead{checked_multiply(both, machine.o.ticks, "the finish")};
  if (const Time time = std::max(by_gap, by_overhead); time > bound.time)
    bound = {time, "every item takes 2(P-1) messages, and some rank its share of them (exchange.md, Theorem 22)"};
  return bound;
}

PlanPtr allreduce_items(const LogP& machine, std::int64_t items, bool commutative) {
  const Problem problem{.kind = Kind::allreduce, .items = items, .commutative = commutative};
  validate(machine);
  validate(problem, machine);
  if (items == 1) return allreduce(machine, commutative);
  if (machine.P == 1) return nothing_to_do(machine, problem);
  const Bound bound = allreduce_items_bound(machine, items);
  const auto in_turn = [&](PlanPtr first, PlanPtr second, std::string how) {
    Claim claim{Time{0}, bound.time, bound.source, std::move(how)};
    return std::make_shared<InTurnPlan>(problem, std::move(claim), std::move(first), std::move(second));
  };
  PlanPtr best = in_turn(kitem_reduce(machine, items, {}, commutative), kitem(machine, items),
                         "all items reduced to rank 0, then broadcast");
  if (items % machine.P != 0) return best;
  const std::int64_t share = items / machine.P;
  PlanPtr scattered = in_turn(reduce_scatter(machine, share, commutative), allgather(machine, share),
                              "reduce-scatter, then all-gather");
  return scattered->claim().finish <= best->claim().finish ? scattered : best;
}

}  // namespace chasqui::plan
