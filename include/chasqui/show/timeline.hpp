// SPDX-License-Identifier: MIT
// Who does what when: the value behind every picture over time. Made from a schedule here; simulations and real runs
// fill the same value, so that one set of drawings serves them all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/schedule/trace.hpp"

namespace chasqui::show {
/// What a processor is busy with.
enum class Doing : std::uint8_t {
  send,     ///< the overhead of a send
  receive,  ///< the overhead of a reception
  compute,  ///< additions
  publish,  ///< puts something on the board of its node
  read,     ///< takes something from there
};

/// One processor busy over [begin, end); begin == end on machines without overhead: an instant.
struct Activity {
  Rank rank;                  ///< who
  Doing doing = Doing::send;  ///< with what
  Time begin;                 ///< from here
  Time end;                   ///< until here, exclusively
  std::int64_t message = -1;  ///< index into Timeline::messages; -1: no message
  std::int64_t count = 1;     ///< computations: how many additions
};

/// A message in flight: leaves the sender's hands at `departs`, reaches the receiver's at `arrives`.
struct Message {
  Rank from;      ///< sender
  Rank to;        ///< receiver
  Time departs;   ///< leaves the sender's hands
  Time arrives;   ///< is in the receiver's hands
  Part part;      ///< what it carries
  Part second{};  ///< messages of two values
};
/// Everything that a picture over time shows.
struct Timeline {
  std::string title;                  ///< heading
  std::int64_t P = 0;                 ///< processors
  Time end;                           ///< the last thing drawn ends here
  bool combining = false;             ///< messages carry intervals of contributions, not items
  bool measured = false;              ///< a real run: `part.lo` is the size of the message in bytes
  std::vector<Activity> activities;   ///< by rank, then begin
  std::vector<Message> messages;      ///< activities point here
  std::int64_t left_out = 0;          ///< messages that never came, or between ranks that do not exist
  std::vector<std::int64_t> nodes{};  ///< clusters: the first rank of each node; drawn as bands
  double ticks_per_microsecond = 1;   ///< of a real run, and what a tick means in trace files
};

/// Time: O(n log n) in the messages and additions.
Timeline timeline_of(const Schedule& schedule);

/// The same of what really happened. Messages that never came are left out and counted.
Timeline timeline_of(const Trace& trace);

/// "item 3", or "0..3" for the contributions of ranks 0 to 3 (across the end of the rank order: "6..1").
std::string carried(const Message& message, const Timeline& timeline);

/// Sorts activities by rank, then begin.
void normalise(Timeline& timeline);

/// What a tick is called: "ticks", of a real run "ns" or "us".
std::string unit_of(const Timeline& timeline);

/// "broadcast on P=8 L=6 o=2 g=4, finish 24 (optimal)"; with the bound where there is a gap.
std::string title_of(const Schedule& schedule);

/// A file, so that what a simulation or a real run did can be drawn later: one JSON object, `{"chasqui_timeline":1, …}`: the fields of Timeline; messages and activities as arrays of numbers.
std::string timeline_json(const Timeline& timeline);

/// Is this text a timeline file rather than a schedule file? Looks for the word that no other file of ours has.
bool is_timeline(const std::string& text);

/// The inverse of timeline_json. Throws Error that names `place` and what is wrong: no JSON, another version, ranks or
/// messages that do not exist, times that run backwards.
Timeline timeline_from_json(const std::string& text, const std::string& place);

}  // namespace chasqui::show
