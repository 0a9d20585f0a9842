// SPDX-License-Identifier: MIT
// Witnesses as plans: lists of messages, so one rank's part is a look-up and not a computation.
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::solve {
namespace {

plan::PlanPtr listed(const Schedule& schedule, plan::Claim claim) {
  return std::make_shared<plan::ListedPlan>(schedule.machine, schedule.problem, std::move(claim), schedule.sends);
}

/// Exchanges ranks 0 and `root` everywhere.
Schedule with_root(Schedule schedule, Rank root) {
  const auto exchange = [root](Rank rank) { return rank == root ? Rank{0} : rank == Rank{0} ? root : rank; };
  for (Send& send : schedule.sends) {
    send.from = exchange(send.from);
    send.to = exchange(send.to);
  }
  schedule.problem.root = root;
  normalise(schedule);
  return schedule;
}

}  // namespace

plan::PlanPtr plan_from_atlas(const Instance& instance) {
  if (instance.problem.kind == Kind::stream) return nullptr;
  Instance asked = instance;
  asked.problem.root = Rank{0};
  const AtlasEntry* entry = Atlas::shipped().find(asked);
  if (entry == nullptr) return nullptr;
  const char* source = entry->evidence == Evidence::argument ? "an argument without search (docs/solve.md)"
                                                             : "exact search (docs/atlas.md)";
  return listed(with_root(entry->witness, instance.problem.root),
                {entry->finish, entry->bound, source, "atlas witness"});
}

plan::PlanPtr plan_from_answer(const Instance& instance, const Answer& answer) {
  CHASQUI_CHECK(answer.best.has_value() && instance.problem.kind != Kind::stream, "{}", to_string(instance));
  return listed(*answer.best, {objective(*answer.best), answer.bound, answer.bound_source, "exact search"});
}

}  // namespace chasqui::solve
