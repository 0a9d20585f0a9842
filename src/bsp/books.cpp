// SPDX-License-Identifier: MIT
// What a barrier does with what its members bring, whatever they are.
#include "chasqui/base/clock.hpp"
#include "chasqui/bsp/detail/endpoint.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

std::uint32_t meet(std::span<const Arrival> arrivals, const Members& members) {
  std::uint32_t flags = 0;
  const std::uint64_t step = arrivals.front().step;
  for (const Arrival& arrival : arrivals) {
    flags |= arrival.flags;
    if (arrival.step == step) continue;
    throw MachineError(Fault::sync_mismatch,
                       fmt::format("rank {} comes to the sync of superstep {}, rank {} to that of superstep {}: every "
                                   "superstep must end with the same kind of sync everywhere",
                                   members.at(0), step, members.at(arrival.member), arrival.step));
  }
  return flags;
}

void Books::close(std::span<const Arrival> arrivals, bool keep_rows) {
  const std::uint64_t step = arrivals.front().step;
  for (const Arrival& arrival : arrivals) {
    for (const Row& row : arrival.rows) merge(costs, row, keep_rows);
  }
  const std::int64_t now = clock_nanoseconds();
  if (costs.supersteps.size() <= step) costs.supersteps.resize(step + 1);
  costs.supersteps[step].span_nanoseconds += now - released_at;
  released_at = now;
}

}  // namespace chasqui::bsp::detail
