// SPDX-License-Identifier: MIT
// What the end of a superstep does with what its members bring, whatever they are.
#include "chasqui/bsp/detail/endpoint.hpp"
#include "chasqui/bsp/fault.hpp"

namespace chasqui::bsp::detail {

std::uint32_t Agreement::agreed(const Members& members) const {
  if (low == high) return flags;
  throw MachineError(Fault::sync_mismatch,
                     fmt::format("rank {} comes to the sync of superstep {}, rank {} to that of superstep {}: every "
                                 "superstep must end with the same kind of sync everywhere",
                                 members.at(low_member), low, members.at(high_member), high));
}

void merge(MachineCosts& costs, const Booking& booking, bool keep_row) {
  bsp::merge(costs, booking.row, keep_row);
  costs.supersteps[booking.row.step].span_nanoseconds += booking.span;
}

}  // namespace chasqui::bsp::detail
