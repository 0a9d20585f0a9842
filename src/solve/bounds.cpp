// SPDX-License-Identifier: MIT
#include "chasqui/solve/bounds.hpp"

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace chasqui::solve {

plan::Bound lower_bound(const Instance& instance) {
  const LogP& machine = instance.machine;
  const std::int64_t k = instance.problem.items;
  if (machine.P == 1) return {Time{0}, "nothing to do"};
  switch (instance.problem.kind) {
    case Kind::broadcast:
      if (!instance.single_sending) {
        const Time counting = plan::kitem_bound(machine, k), work = plan::kitem_work_bound(machine, k);
        return work > counting ? plan::Bound{work, "the work of all ranks"} : plan::Bound{counting, "counting"};
      }
      return {plan::kitem_single_sending_bound(machine, k), "counting, the source sends each item once"};
    case Kind::alltoall:
    case Kind::reduce_scatter:
    case Kind::allgather: return {plan::allgather_bound(machine, k), "the sends and receptions of one rank"};
    case Kind::stream: return {plan::stream_bound(machine), "optimal tree of every item"};
    case Kind::allreduce: return plan::allreduce_bound(machine);
    default: return {plan::broadcast_time(plan::broadcast_shape(machine), machine.P), "one contribution to all"};
  }
}

}  // namespace chasqui::solve
