// SPDX-License-Identifier: MIT
#include "chasqui/solve/bounds.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace chasqui::solve {
namespace {

plan::TreeShape shape(const LogP& machine) { return plan::broadcast_shape(machine); }

}  // namespace

Time counting_bound(const LogP& machine, std::int64_t items) {
  if (machine.P == 1) return Time{0};
  const std::int64_t G = machine.gap().ticks;
  const std::int64_t needed = items * (machine.P - 1);
  const auto messages = [&](std::int64_t t) {  // at most so many sends begin by time t
    std::int64_t sum = 0;
    for (std::int64_t begin = t; begin >= 0 && sum < needed; begin -= G) {
      sum += std::min(plan::reach(shape(machine), Time{begin}), machine.P - 1);
    }
    return sum;
  };
  std::int64_t low = -1;  // too early
  std::int64_t high = 1;
  while (messages(high) < needed) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (messages(middle) < needed ? low : high) = middle;
  }
  // The last item leaves the source at (k-1)G at the earliest and then needs a broadcast.
  const Time last_item = (items - 1) * machine.gap() + plan::broadcast_time(shape(machine), machine.P);
  return std::max(machine.lambda() + Time{high}, last_item);
}

Time single_sending_bound(const LogP& machine, std::int64_t items) {
  if (machine.P == 1) return Time{0};
  const Time tree = machine.lambda() + plan::broadcast_time(shape(machine), machine.P - 1);
  return std::max(counting_bound(machine, items), (items - 1) * machine.gap() + tree);
}

Time stream_bound(const LogP& machine) {
  if (machine.P == 1) return Time{0};
  const Time tree = machine.lambda() + plan::broadcast_time(shape(machine), machine.P - 1);
  const bool one_more = machine.is_postal() && machine.L == Time{2} && !plan::stream_bound_reachable_at_two(machine.P);
  return tree + Time{one_more ? 1 : 0};
}

Bound lower_bound(const Instance& instance) {
  const LogP& machine = instance.machine;
  const Problem& problem = instance.problem;
  if (machine.P == 1) return {Time{0}, "nothing to do"};
  switch (problem.kind) {
    case Kind::broadcast:
      if (instance.single_sending) {
        return {single_sending_bound(machine, problem.items), "counting, the source sends each item once"};
      }
      return {counting_bound(machine, problem.items), "counting"};
    case Kind::allgather:
      return {plan::allgather_bound(machine, problem.items), "the sends and receptions of one rank"};
    case Kind::stream: return {stream_bound(machine), "optimal tree of every item"};
    case Kind::allreduce:
      // If everybody sent once, the receiver of the first message would know two contributions only; so somebody sends twice.
      if (machine.P >= 3 && machine.lambda() + machine.gap() > plan::broadcast_time(shape(machine), machine.P)) {
        return {machine.lambda() + machine.gap(), "some rank sends twice"};
      }
      [[fallthrough]];
    default: return {plan::broadcast_time(shape(machine), machine.P), "one contribution to all"};
  }
}

}  // namespace chasqui::solve
