// SPDX-License-Identifier: MIT
#include "plan/exchange/chain_scan.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::plan {

Send ChainScan::from(std::int64_t rank) const {
  const auto r = static_cast<std::int32_t>(rank);
  return {rank * machine_.lambda(), Rank{r}, Rank{r + 1}, {0, r + 1}};
}

LocalForm ChainScan::local(Rank rank) const {
  CHASQUI_CHECK(rank.index >= 0 && rank.index < machine_.P, "rank={} P={}", rank.index, machine_.P);
  LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
  if (rank.index + 1 < machine_.P) local.sends.push_back(from(rank.index));
  if (rank.index > 0) local.receives.push_back(from(rank.index - 1));
  return local;
}

Schedule ChainScan::schedule() const {
  Schedule schedule = empty_schedule();
  Time begin;
  for (std::int32_t r = 1; r < machine_.P; ++r, begin += machine_.lambda()) {
    schedule.sends.push_back({begin, Rank{r - 1}, Rank{r}, {0, r}});
  }
  return schedule;
}

}  // namespace chasqui::plan
