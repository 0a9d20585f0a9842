// SPDX-License-Identifier: MIT
// A plan that was made as a list of messages and knows no shorter form: for constructions kept for
// comparison.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan::stream_detail {

class ListedPlan final : public Plan {
 public:
  ListedPlan(const LogP& machine, const Problem& problem, Claim claim, std::vector<Send> sends)
      : Plan(machine, problem, std::move(claim)), schedule_(empty_schedule()) {
    schedule_.sends = std::move(sends);
    normalise(schedule_);
  }

  LocalForm local(Rank rank) const override { return restrict_to(schedule_, rank); }
  Schedule schedule() const override { return schedule_; }

 private:
  Schedule schedule_;
};

}  // namespace chasqui::plan::stream_detail
