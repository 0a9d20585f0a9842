// SPDX-License-Identifier: MIT
#include "cli/plans/collectives.hpp"

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/stream_algorithms.hpp"
#include "chasqui/plan/sum.hpp"

namespace chasqui::cli {
namespace {

using plan::PlanPtr;

PlanPtr plan_broadcast(const Request& r) {
  if (!r.algorithm.empty()) return plan::stream_algorithm(r.algorithm).items(r.machine, r.items, r.root);
  if (r.items == 1) return plan::broadcast(r.machine, r.root);
  return plan::kitem(r.machine, r.items, r.root);
}

PlanPtr plan_stream(const Request& r) {
  if (r.algorithm.empty()) return plan::stream(r.machine, r.root);
  const plan::StreamAlgorithm& algorithm = plan::stream_algorithm(r.algorithm);
  if (algorithm.stream == nullptr) {
    throw Error("--algorithm {} is for a finite number of items: plan broadcast with --items K", r.algorithm);
  }
  return algorithm.stream(r.machine, r.root);
}

PlanPtr plan_sum(const Request& r) {
  if (r.operands.has_value() == r.time.has_value()) {
    throw Error("sum needs one of --operands N (in the least time) and --time TICKS (the most operands)");
  }
  if (r.operands) return plan::sum_operands(r.machine, *r.operands, r.commutative);
  return plan::sum(r.machine, Time{*r.time}, r.commutative);
}

}  // namespace

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> table = {
      {"broadcast", "K items from the root to all", kRoot | kItems | kAlgorithm | kBytes, &plan_broadcast},
      {"stream", "a new item from the root to all every step, for ever", kRoot | kAlgorithm, &plan_stream},
      {"kitem", "the same as broadcast", kRoot | kItems | kAlgorithm | kBytes, &plan_broadcast},
      {"scatter", "one item from the root to each rank", kRoot,
       [](const Request& r) -> PlanPtr { return plan::scatter(r.machine, r.root); }},
      {"gather", "one item from each rank to the root", kRoot,
       [](const Request& r) -> PlanPtr { return plan::gather(r.machine, r.root); }},
      {"allgather", "K items from each rank to all", kItems,
       [](const Request& r) -> PlanPtr { return plan::allgather(r.machine, r.items); }},
      {"reduce", "the fold of all contributions to each of K items, at the root", kRoot | kItems | kNonCommutative,
       [](const Request& r) -> PlanPtr { return plan::kitem_reduce(r.machine, r.items, r.root, r.commutative); }},
      {"allreduce", "the fold of all contributions, at every rank", kNonCommutative,
       [](const Request& r) -> PlanPtr { return plan::allreduce(r.machine, r.commutative); }},
      {"scan", "at rank i the fold of ranks 0..i", kExclusive,
       [](const Request& r) -> PlanPtr { return plan::scan(r.machine, r.exclusive); }},
      {"barrier", "nobody goes on before all have come", 0,
       [](const Request& r) -> PlanPtr { return plan::barrier(r.machine); }},
      {"sum", "N operands, placed by the plan, folded at the root; an addition takes a tick",
       kOperands | kTime | kNonCommutative, &plan_sum},
  };
  return table;
}

}  // namespace chasqui::cli
