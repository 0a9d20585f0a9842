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

std::string unclaimed(const Block& block, std::int32_t to) {
  const char* const of = block.channel.group == GroupInfo{}.id ? "" : " of a submachine";
  if (block.channel.lane == Lane::collective) {
    return fmt::format(
        "rank {} ended its program without a collective in which rank {}{} took part: everybody calls the same ones, in "
        "the same order",
        to, block.from, of);
  }
  return fmt::format(
      "rank {} ended its program without a message that rank {}{} sent in superstep {}: its sync(expected) was told too "
      "few",
      to, block.from, of, block.channel.step);
}

void merge(MachineCosts& costs, const Booking& booking, bool keep_row) {
  bsp::merge(costs, booking.row, keep_row);
  costs.supersteps[booking.row.step].span_nanoseconds += booking.span;
}

}  // namespace chasqui::bsp::detail
