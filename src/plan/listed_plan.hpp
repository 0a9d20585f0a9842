// SPDX-License-Identifier: MIT
// A plan that is a list of messages: small collectives that have no shorter description.
#pragma once

#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

class ListedPlan final : public Plan {
 public:
  /// REQUIRES canonical order.
  ListedPlan(const LogP& machine, const Problem& problem, Claim claim, std::vector<Send> sends)
      : Plan(machine, problem, std::move(claim)), sends_(std::move(sends)) {}

  /// Time: O(messages of the plan).
  LocalForm local(Rank rank) const override {
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for (const Send& send : sends_) {
      if (send.from == rank) local.sends.push_back(send);
      if (send.to == rank) local.receives.push_back(send);
    }
    return local;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends = sends_;
    return schedule;
  }

 private:
  std::vector<Send> sends_;
};

/// The same on a cluster, with boards. Time of local(): O(events of the schedule).
class ListedClusterPlan final : public Plan {
 public:
  /// Finish and bound of the claim are those of the schedule. REQUIRES canonical order.
  ListedClusterPlan(Schedule schedule, std::string bound_source, std::string construction)
      : Plan(Cluster{schedule.machine, schedule.nodes}, schedule.problem,
             Claim{schedule.finish, schedule.bound, std::move(bound_source), std::move(construction)}),
        schedule_(std::move(schedule)) {}

  LocalForm local(Rank rank) const override { return restrict_to(schedule_, rank); }
  Schedule schedule() const override { return schedule_; }

 private:
  Schedule schedule_;
};

/// P = 1: nobody to send to.
inline PlanPtr nothing_to_do(const LogP& machine, const Problem& problem) {
  return std::make_shared<ListedPlan>(machine, problem, Claim{Time{0}, Time{0}, "one processor", "nothing to do"},
                                      std::vector<Send>{});
}

}  // namespace chasqui::plan
