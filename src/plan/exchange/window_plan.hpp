// SPDX-License-Identifier: MIT
// All-reduce, scan and barrier as plans over the same rounds (window_rounds.hpp): cyclic windows, or windows
// cut off at rank 0.
#pragma once

#include <vector>

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/window_rounds.hpp"

namespace chasqui::plan {

/// INVARIANT: rounds_ serve P ranks. One rank's part: O(rounds), nothing else is looked at.
class WindowPlan final : public Plan {
 public:
  static PlanPtr make(const LogP& machine, const Problem& problem);

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  WindowPlan(const LogP& machine, const Problem& problem, Claim claim, std::vector<WindowRound> rounds);

  bool cyclic() const { return problem_.kind != Kind::scan; }

  std::vector<WindowRound> rounds_;
};

}  // namespace chasqui::plan
