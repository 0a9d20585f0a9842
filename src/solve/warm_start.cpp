// SPDX-License-Identifier: MIT
// The best plan as the first upper bound.
#include <algorithm>

#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"
#if __has_include("chasqui/plan/kitem.hpp")
#include "chasqui/plan/kitem.hpp"
#define CHASQUI_SOLVE_KITEM
#endif

namespace chasqui::solve {
namespace {

plan::PlanPtr plan_for(const Instance& instance) {
  const LogP& machine = instance.machine;
  const Problem& problem = instance.problem;
  switch (problem.kind) {
    case Kind::broadcast:
      if (problem.items == 1) return plan::broadcast(machine, problem.root);
#ifdef CHASQUI_SOLVE_KITEM
      return plan::kitem(machine, problem.items, problem.root);
#else
      return nullptr;
#endif
    case Kind::allgather: return plan::allgather(machine, problem.items);
    case Kind::reduce: return plan::reduce(machine, problem.root, problem.commutative);
    case Kind::allreduce: return plan::allreduce(machine, problem.commutative);
    case Kind::scan: return plan::scan(machine, problem.exclusive);
    default: return nullptr;  // a stream's plan chooses its own period
  }
}

/// Does the root send an item twice?
bool repeats(const Schedule& schedule) {
  std::vector<std::int32_t> sent;
  for (const Send& send : schedule.sends) {
    if (send.from == schedule.problem.root) sent.push_back(send.part.lo);
  }
  std::sort(sent.begin(), sent.end());
  return std::adjacent_find(sent.begin(), sent.end()) != sent.end();
}

}  // namespace

std::optional<Schedule> best_plan(const Instance& instance) {
  const plan::PlanPtr plan = plan_for(instance);
  if (!plan) return std::nullopt;
  Schedule schedule = plan->schedule();
  schedule.bound = Time{0};
  schedule.problem.commutative = instance.problem.commutative;  // what folds in order folds in any order
  if (schedule.problem != instance.problem || !verify(schedule).legal()) return std::nullopt;
  if (instance.single_sending && repeats(schedule)) return std::nullopt;
  const auto two = [](const Send& send) { return send.second.len > 0; };
  if (!instance.two_values && std::any_of(schedule.sends.begin(), schedule.sends.end(), two)) return std::nullopt;
  return schedule;
}

}  // namespace chasqui::solve
