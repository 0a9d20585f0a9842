// SPDX-License-Identifier: MIT
// What happened when a schedule was played: the times of every message, and what follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

/// The life of one message. `kNever`: it did not come to that.
struct MessageTimes {
  Time send;       ///< its send overhead began
  Time reception;  ///< its receive overhead began

  friend constexpr bool operator==(const MessageTimes&, const MessageTimes&) = default;
};

inline constexpr Time kNever{std::int64_t{1} << 62};  ///< a time that never came

/// One link of the chain that explains the finish time, last link first.
struct CriticalStep {
  /// What happened; on clusters also on the board of a node.
  enum class Event : std::uint8_t { send, reception, publication, reading };
  /// What a link waited for.
  enum class Reason {
    planned,      ///< the send waited for its planned time
    start,        ///< it began when its rank began
    data,         ///< the send waited for what it carries
    send_gap,     ///< … for the gap after the rank's previous send
    busy,         ///< … for the processor, which was busy with another message or addition
    latency,      ///< the reception waited for the network
    receive_gap,  ///< … for the gap after the rank's previous reception
    node_gap,     ///< … for the gap after another send or reception of its node
    board,        ///< the reading waited for the publication
  };
  std::size_t index = 0;      ///< into the sends, publications or readings of Trace::schedule
  Event event = Event::send;  ///< which of them; a message is sent and received
  Reason reason = Reason::start;
  Time time;
};
/// A play of a schedule, with what is derived from it.
struct Trace {
  Schedule schedule;                     ///< as planned; everything sorted by who does it, then time
  std::vector<MessageTimes> times;       ///< as it happened, in the order of schedule.sends
  std::vector<Time> add_begins;          ///< sum: as it happened, in the order of schedule.adds
  std::vector<Time> publication_begins;  ///< clusters: as it happened, in the order of schedule.publications
  std::vector<Time> reading_begins;      ///< clusters: as it happened, in the order of schedule.readings
  Time finish;                           ///< the last availability, addition or reading; kNever if the play got stuck
  std::vector<Time> item_delay;          ///< broadcasts: per item, from its first send to its last availability
  std::vector<CriticalStep> critical_path;  ///< why the finish is what it is, last link first
  double utilisation = 0;  ///< share of the ranks' time until `finish` that went into overheads, additions and boards
};

std::string to_string(CriticalStep::Reason reason);  ///< a few words

}  // namespace chasqui
