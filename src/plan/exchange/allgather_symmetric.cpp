// SPDX-License-Identifier: MIT
#include "plan/exchange/allgather_symmetric.hpp"

#include "chasqui/base/error.hpp"

namespace chasqui::plan {

LocalForm SymmetricAllgather::local(Rank rank) const {
  const std::int64_t P = machine_.P, r = rank.index, k = problem_.items;
  CHASQUI_CHECK(r >= 0 && r < P, "rank={} P={}", r, P);
  LocalForm local{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
  if (P == 1) return local;
  local.sends.reserve(static_cast<std::size_t>(times_.count()));
  local.receives.reserve(static_cast<std::size_t>(times_.count()));
  for (std::int64_t j = 0; j < times_.count(); ++j) {
    const std::int64_t distance = 1 + j % (P - 1);
    const std::int64_t to = r + distance < P ? r + distance : r + distance - P;
    const std::int64_t from = r >= distance ? r - distance : r - distance + P;
    const Time begin{times_.at(j)};
    const auto item = [&](std::int64_t owner) { return static_cast<std::int32_t>(owner * k + j / (P - 1)); };
    local.sends.push_back(send_item(begin, rank, Rank{static_cast<std::int32_t>(to)}, item(r)));
    local.receives.push_back(send_item(begin, Rank{static_cast<std::int32_t>(from)}, rank, item(from)));
  }
  return local;
}

Schedule SymmetricAllgather::schedule() const {
  Schedule schedule = empty_schedule();
  const auto P = static_cast<std::int32_t>(machine_.P);
  const auto k = static_cast<std::int32_t>(problem_.items);
  std::int64_t slot = 0;
  for (std::int32_t repetition = 0; P > 1 && repetition < k; ++repetition) {
    for (std::int32_t distance = 1; distance < P; ++distance, ++slot) {
      const Time begin{times_.at(slot)};
      for (std::int32_t from = 0; from < P; ++from) {
        const auto to = static_cast<std::int32_t>((std::int64_t{from} + distance) % P);
        schedule.sends.push_back(send_item(begin, Rank{from}, Rank{to}, from * k + repetition));
      }
    }
  }
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::plan
