// SPDX-License-Identifier: MIT
// Scan along a chain: rank r sends the fold of 0..r to rank r+1 as soon as it has it. One message a rank, so
// the gap never matters: optimal where the gap is so long that a broadcast, too, is a chain.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: (P-1)(L + 2o).
class ChainScan final : public Plan {
 public:
  ChainScan(const LogP& machine, const Problem& problem, Claim claim) : Plan(machine, problem, std::move(claim)) {}

  LocalForm local(Rank rank) const override;
  Schedule schedule() const override;

 private:
  Send from(std::int64_t rank) const;
};

}  // namespace chasqui::plan
