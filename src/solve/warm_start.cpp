// SPDX-License-Identifier: MIT
// The best plan as the first upper bound.
#include <algorithm>

#include "chasqui/plan/collectives.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {
namespace {

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
  if (instance.problem.kind == Kind::stream) return std::nullopt;  // a stream's plan chooses its own period
  Schedule schedule = plan::make_plan({.machine = instance.machine, .problem = instance.problem})->schedule();
  schedule.bound = Time{0};
  schedule.problem.commutative = instance.problem.commutative;  // what folds in order folds in any order
  if (schedule.problem != instance.problem || !verify(schedule).legal()) return std::nullopt;
  if (instance.single_sending && repeats(schedule)) return std::nullopt;
  const auto two = [](const Send& send) { return send.second.len > 0; };
  if (!instance.two_values && std::any_of(schedule.sends.begin(), schedule.sends.end(), two)) return std::nullopt;
  return schedule;
}

}  // namespace chasqui::solve
