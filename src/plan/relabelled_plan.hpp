// SPDX-License-Identifier: MIT
// The events of a plan as a plan for something else that they achieve as well: another problem, the same machine with other words for its nodes, another
// claim.
#pragma once

#include <utility>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

class RelabelledPlan : public Plan {
 public:
  /// REQUIRES claim.finish to be that of the plan.
  RelabelledPlan(PlanPtr plan, const Nodes& nodes, const Problem& problem, Claim claim)
      : Plan(Cluster{plan->machine(), nodes}, problem, std::move(claim)), plan_(std::move(plan)) {}

  LocalForm local(Rank rank) const override { return plan_->local(rank); }
  Schedule schedule() const override {
    Schedule schedule = plan_->schedule();
    schedule.nodes = nodes_;
    schedule.problem = problem_;
    schedule.bound = claim_.bound;
    return schedule;
  }

 private:
  PlanPtr plan_;
};

}  // namespace chasqui::plan
