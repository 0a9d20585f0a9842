// SPDX-License-Identifier: MIT
// A plan run backwards in time: a message of the forward plan begun at t begins at T - lambda - t, the other way. What
// spreads items then folds contributions (items.md, Theorem 15; exchange.md, Theorem 18).
#pragma once

#include <utility>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// A whole schedule backwards, for the problem that this solves.
inline Schedule backwards(Schedule schedule, const Problem& problem) {
  for (Send& send : schedule.sends) {
    send.begin = schedule.finish - available(schedule.machine, send);
    std::swap(send.from, send.to);
  }
  schedule.problem = problem;
  normalise(schedule);
  return schedule;
}

class ReversedPlan final : public Plan {
 public:
  /// REQUIRES claim.finish to be that of the forward plan.
  ReversedPlan(const LogP& machine, const Problem& problem, Claim claim, PlanPtr forward)
      : Plan(machine, problem, std::move(claim)), forward_(std::move(forward)) {}

  LocalForm local(Rank rank) const override {
    const LocalForm forward = forward_->local(rank);
    LocalForm back{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    back.sends = reversed(forward.receives);
    back.receives = reversed(forward.sends);
    return back;
  }

  Schedule schedule() const override {
    Schedule schedule = backwards(forward_->schedule(), problem_);
    schedule.bound = claim_.bound;
    return schedule;
  }

 private:
  std::vector<Send> reversed(const std::vector<Send>& forward) const {
    std::vector<Send> back;
    back.reserve(forward.size());
    for (auto send = forward.rbegin(); send != forward.rend(); ++send) {
      back.push_back({claim_.finish - machine_.lambda() - send->begin, send->to, send->from, send->part, {}});
    }
    return back;
  }

  PlanPtr forward_;
};

}  // namespace chasqui::plan
