// SPDX-License-Identifier: MIT
// How the members of a machine learn how many blocks each of them gets, with what else all must know at the end of a superstep: ceil(log_r N)
// rounds of one message each, or one step of a board.
#pragma once

#include <cstdint>
#include <span>

#include "bsp/mpi/peers.hpp"

namespace chasqui::bsp::detail {

/// What member `from` of a machine says next. Waits for it.
ArrivalRecord next_arrival(MpiPeers& peers, std::uint64_t group, std::int32_t from, const Waiting& why);

/// All ranks of a board show each other bytes: visit(slot, bytes) for each.
template <typename Visit>
void show(MpiPeers& peers, NodeBoard& board, std::span<const std::byte> mine, const Waiting& why, const Visit& visit) {
  board.show(
      mine,
      [&](const auto& condition) {
        peers.wait_until(why, condition);
        peers.saw_board();
      },
      visit);
}

/// A reduce-scatter: adds up the `counts` of all by distance from each on its circle, and the digests. Afterwards the counts at distance 0 are
/// those for this one. `board`: of a shared circle, on which its node shows what came.
void exchange_counts(MpiPeers& peers, NodeBoard* board, const GroupInfo& machine, std::int32_t member,
                     const Circle& circle, Digest& digest, std::span<std::uint32_t> counts, const Waiting& why);

}  // namespace chasqui::bsp::detail
