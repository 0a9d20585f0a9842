// SPDX-License-Identifier: MIT
// A small all-gather given as a list of messages (at most kMostMatched items in all).
#pragma once

#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

class ListedAllgather final : public Plan {
 public:
  ListedAllgather(const LogP& machine, const Problem& problem, Claim claim, std::vector<Send> sends)
      : Plan(machine, problem, std::move(claim)), sends_(std::move(sends)) {}

  LocalForm local(Rank rank) const override { return restrict_to(schedule(), rank); }
  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends = sends_;
    normalise(schedule);
    return schedule;
  }

 private:
  std::vector<Send> sends_;
};

}  // namespace chasqui::plan
