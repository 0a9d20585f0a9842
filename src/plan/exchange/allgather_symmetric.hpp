// SPDX-License-Identifier: MIT
// All-gather in which every rank sends its own items only, to ranks r+1, r+2, …, at the same times as
// everybody.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/symmetric_times.hpp"

namespace chasqui::plan {

/// Send j carries the item j / (P-1) of the sender to rank r + 1 + j mod (P-1): a permutation in every slot.
class SymmetricAllgather final : public Plan {
 public:
  SymmetricAllgather(const LogP& machine, const Problem& problem, Claim claim, SymmetricTimes times)
      : Plan(machine, problem, std::move(claim)), times_(std::move(times)) {}

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  SymmetricTimes times_;
};

}  // namespace chasqui::plan
