// SPDX-License-Identifier: MIT
// What one message costs on a level, and how it is sent. Long messages of an MPI library first ask the receiver (rendezvous): a round trip more. Where latency is high it pays to
// cut them into pieces that are sent at once (eager). The profile's `switches` say from which size on the library asks.
#pragma once

#include <cstddef>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/model/profile.hpp"

namespace chasqui::run {

/// The largest message that is sent without asking; the largest size_t where the profile knows no switch.
std::size_t eager_bytes(const Level& level);

/// Into pieces of how many bytes a message is cut; `bytes` (or more): not at all. Cut where the overheads of all further
/// pieces cost less than the round trip. All but the last are equal: a receiver that expects another size soon sees it.
std::size_t piece_bytes(const Level& level, std::size_t bytes);

/// What the protocol adds to one message, in nanoseconds: a round trip, or the overheads of its further pieces.
double protocol_time(const Level& level, double bytes);

/// From the begin of the send to the end of the reception: overheads, latency, bytes and protocol.
double flight_time(const Level& level, double bytes);

/// How long the sender's port is taken: until the next send may begin. Where messages under way share the link the
/// processor is free while the bytes go out, so overhead and bytes do not add up.
double port_time(const Level& level, double bytes);

/// How long the sender's port is taken where everybody sends and receives at once, so that both are work of cores that all need: a message costs its rank the gap and, beside
/// it, its bytes. REQUIRES a level with_everybody_sending().
double crowded_port_time(const Level& crowd, double bytes);

/// How long the receiver's port is taken: from one reception to the next.
double receive_port_time(const Level& level, double bytes);

/// From one message of every rank to its next, where all send and receive all the time: both overheads, and the bytes.
double spread_step(const Level& level, double bytes);

/// Ranks that send at once: as many of each node.
struct Senders {
  std::int64_t nodes;
  std::int64_t lanes;  ///< of each

  static Senders of(std::int64_t ranks, std::int64_t nodes) { return {nodes, divide_up(ranks, nodes)}; }
  /// All that were there when the level was measured.
  static Senders all(const Level& level) {
    const std::int64_t lanes = level.lane_gaps.empty() ? 1 : level.lane_gaps.back().lanes;
    return {level.ranks / lanes, lanes};
  }
};

/// The level as a pattern sees it in which these send at once: its gaps were measured with 1, 2, 4 … all ranks of
/// every node at work, so they know of cores, links and switches that ranks share. Where they were not, BSP's g and gap per byte have to do:
/// those are of all ranks, and fewer take turns less often.
Level with_everybody_sending(Level level, const Profile& profile, const Senders& senders);

/// The machine as programs see it: rooted patterns leave it to few ranks at a time, in others all send at once.
struct Machine {
  const Level& level;      ///< of the messages
  const Profile& profile;  ///< that it is of
  std::int64_t nodes;      ///< that the ranks are on
};

}  // namespace chasqui::run
