// SPDX-License-Identifier: MIT
#include "chasqui/plan/scan.hpp"

#include <memory>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/exchange/window_plan.hpp"

namespace chasqui::plan {

namespace {

/// Along a chain: rank r sends the fold of 0..r to rank r+1 as soon as it has it. One message a rank, so the gap never
/// matters: optimal where the gap is so long that a broadcast, too, is a chain. Time: (P-1)(L + 2o).
class ChainScan final : public Plan {
 public:
  ChainScan(const LogP& machine, const Problem& problem, Claim claim) : Plan(machine, problem, std::move(claim)) {}

  LocalForm local(Rank rank) const override {
    CHASQUI_CHECK(rank.index >= 0 && rank.index < machine_.P, "rank={} P={}", rank.index, machine_.P);
    LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    if (rank.index + 1 < machine_.P) local.sends.push_back(from(rank.index));
    if (rank.index > 0) local.receives.push_back(from(rank.index - 1));
    return local;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    Time begin;
    for (std::int32_t r = 1; r < machine_.P; ++r, begin += machine_.lambda()) {
      schedule.sends.push_back({begin, Rank{r - 1}, Rank{r}, {0, r}});
    }
    return schedule;
  }

 private:
  Send from(std::int64_t rank) const {
    const auto r = static_cast<std::int32_t>(rank);
    return {rank * machine_.lambda(), Rank{r}, Rank{r + 1}, {0, r + 1}};
  }
};

}  // namespace

PlanPtr scan(const LogP& machine, bool exclusive) {
  const Problem problem{.kind = Kind::scan, .commutative = false, .exclusive = exclusive};
  PlanPtr windows = WindowPlan::make(machine, problem);
  const Time chain{saturating_multiply(machine.P - 1, machine.lambda().ticks)};
  if (chain >= windows->claim().finish) return windows;
  Claim claim = windows->claim();
  claim.finish = chain;
  claim.construction = "chain: rank r passes the fold of 0..r on to r+1";
  return std::make_shared<ChainScan>(machine, problem, std::move(claim));
}

}  // namespace chasqui::plan
