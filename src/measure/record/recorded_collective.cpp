// SPDX-License-Identifier: MIT
#include "measure/record/recorded_collective.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"

namespace chasqui::measure {
namespace {

/// A send and what its receiver wrote down.
struct Flight {
  int from = 0;
  const RecordedEvent* sent = nullptr;
  const RecordedEvent* received = nullptr;  ///< missing, or complete
};
struct Flights {
  std::vector<Flight> list;   ///< in the order of the sends, rank by rank
  std::int64_t left_out = 0;  ///< receptions that never completed or have no send
};

Flights flights_of(const Log& log) {
  using Channel = std::tuple<int, int, std::uint32_t>;
  Flights all;
  std::map<Channel, std::vector<std::size_t>> sent;
  std::map<Channel, std::size_t> received;
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (!event.sends) continue;
      sent[{rank, event.peer, event.tag}].push_back(all.list.size());
      all.list.push_back({rank, &event, nullptr});
    }
  }
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (event.sends) continue;
      const Channel channel{event.peer, rank, event.tag};
      const std::size_t number = received[channel]++;
      if (event.end == 0 || number >= sent[channel].size()) ++all.left_out;
      else all.list[sent[channel][number]].received = &event;
    }
  }
  return all;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> span_of(const Log& log) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const auto& events : log) {
    for (const RecordedEvent& event : events) {
      if (event.end == 0) continue;  // never completed
      first = std::min(first, event.begin), last = std::max(last, event.end);
    }
  }
  return first > last ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{first, last};
}

void set_back(std::vector<RecordedEvent>& events, std::int64_t nanoseconds) {
  for (RecordedEvent& event : events) {
    if (event.end == 0) continue;  // never completed
    event.begin -= nanoseconds;
    event.end -= nanoseconds;
  }
}

std::optional<std::int64_t> shortest_flight(const Log& log) {
  std::optional<std::int64_t> least;
  for (const Flight& flight : flights_of(log).list) {
    if (flight.received != nullptr)
      least = std::min(least.value_or(INT64_MAX), flight.received->end - flight.sent->begin);
  }
  return least;
}

show::Timeline timeline_of(const Log& log, std::string title) {
  const auto [start, finish] = span_of(log);
  const Flights flights = flights_of(log);
  show::Timeline timeline;
  timeline.title = std::move(title);
  timeline.P = std::ssize(log);
  timeline.measured = true;
  timeline.ticks_per_microsecond = 1000;
  timeline.left_out = flights.left_out;
  const auto at = [origin = start](std::int64_t nanoseconds) { return Time{nanoseconds - origin}; };
  for (const auto& [from, sent, received] : flights.list) {
    const std::int64_t message = std::ssize(timeline.messages);
    const Time begin = at(sent->begin), end = at(sent->end);
    timeline.activities.push_back({Rank{from}, show::Doing::send, begin, end, message, 1});
    const auto bytes = static_cast<std::int32_t>(std::min<std::size_t>(sent->bytes, INT32_MAX));
    timeline.messages.push_back({Rank{from}, Rank{sent->peer}, end, end, {bytes, 1}, {}});
    if (received == nullptr) continue;
    // Found by a call that began before the message was sent (its rank lost the core inside it, or clocks differ a little):
    // it was there no earlier than it was sent.
    const Time found = std::max(at(received->begin), begin);
    show::Message& flight = timeline.messages.back();
    flight.departs = std::min(flight.departs, found);  // it may be there before the sender's call returns
    flight.arrives = found;
    timeline.activities.push_back(
        {Rank{sent->peer}, show::Doing::receive, found, std::max(found, at(received->end)), message, 1});
  }
  timeline.end = at(finish);
  for (const show::Activity& activity : timeline.activities) timeline.end = std::max(timeline.end, activity.end);
  normalise(timeline);
  return timeline;
}

Kind RecordedCollective::kind() const {
  const auto kind = kind_from(collective);
  if (!kind || *kind == Kind::sum || *kind == Kind::stream)
    throw Error("\"{}\" is no collective that can be recorded", collective);
  return *kind;
}

std::string title_of(const RecordedCollective& what, const Log& log, const std::string& ranks,
                     const std::string& method) {
  const auto [first, last] = span_of(log);
  return fmt::format("{} of {} bytes on {} {} by {}, {:.2f} us", what.collective, divide_up(what.bytes, 8) * 8,
                     log.size(), ranks, method, static_cast<double>(last - first) / 1000);
}

std::string force_method(run::Comm& comm, const RecordedCollective& what) {
  const SampleCall sample = what.call(comm.size());
  std::string there;
  for (const run::Choice& choice : comm.choices_for(sample.call())) {
    const std::string name(to_string(choice.method));
    if (what.method.empty()) return name;
    there += (there.empty() ? "" : ", ") + name;
    if (name != what.method) continue;
    comm.force(choice);
    return name;
  }
  throw Error("--method {} is not there for this call: {}", what.method, there);
}

}  // namespace chasqui::measure
