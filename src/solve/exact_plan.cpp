// SPDX-License-Identifier: MIT
// Witnesses as plans: a table, so one rank's part is a look-up and not a computation.
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {
namespace {

class TablePlan final : public plan::Plan {
 public:
  TablePlan(Schedule schedule, plan::Claim claim)
      : Plan(schedule.machine, schedule.problem, std::move(claim)), schedule_(std::move(schedule)) {}

  LocalForm local(Rank rank) const override { return restrict_to(schedule_, rank); }
  Schedule schedule() const override { return schedule_; }

 private:
  Schedule schedule_;
};

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
  Instance asked = instance;
  asked.problem.root = Rank{0};
  const AtlasEntry* entry = Atlas::shipped().find(asked);
  if (entry == nullptr) return nullptr;
  plan::Claim claim{entry->finish, entry->bound,
                    entry->evidence == Evidence::argument ? "results.md, Exact schedules" : "exact search (docs/atlas.md)", "atlas witness"};
  return std::make_shared<TablePlan>(with_root(entry->witness, instance.problem.root), std::move(claim));
}

plan::PlanPtr plan_from_answer(const Instance& instance, const Answer& answer) {
  CHASQUI_CHECK(answer.best.has_value(), "{}", to_string(instance));
  plan::Claim claim{objective(*answer.best), answer.bound, answer.bound_source, "exact search"};
  return std::make_shared<TablePlan>(*answer.best, std::move(claim));
}

}  // namespace chasqui::solve
