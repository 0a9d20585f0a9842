// SPDX-License-Identifier: MIT
#include "cli/launch/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "chasqui/base/error.hpp"
#include "chasqui/run/choose.hpp"

namespace chasqui::cli {

Kind Wanted::kind() const {
  const auto kind = kind_from(collective);
  if (!kind || *kind == Kind::sum || *kind == Kind::stream)
    throw Error("\"{}\" is no collective that can be recorded", collective);
  return *kind;
}

std::pair<std::int64_t, std::int64_t> span_of(const Log& log) {
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const auto& events : log) {
    for (const run::RecordedEvent& event : events) {
      if (event.end == 0) continue;  // never completed
      first = std::min(first, event.begin), last = std::max(last, event.end);
    }
  }
  return first > last ? std::pair<std::int64_t, std::int64_t>{0, 0} : std::pair{first, last};
}

void set_back(std::vector<run::RecordedEvent>& events, std::int64_t nanoseconds) {
  for (run::RecordedEvent& event : events) {
    if (event.end == 0) continue;  // never completed
    event.begin -= nanoseconds;
    event.end -= nanoseconds;
  }
}

std::optional<std::int64_t> shortest_flight(const Log& log) {
  std::map<std::tuple<int, int, std::uint32_t>, std::deque<std::int64_t>> sent;
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (event.sends) sent[{rank, event.peer, event.tag}].push_back(event.begin);
    }
  }
  std::optional<std::int64_t> least;
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      auto& from = sent[{event.peer, rank, event.tag}];
      if (event.sends || from.empty()) continue;
      if (event.end != 0) least = std::min(least.value_or(INT64_MAX), event.end - from.front());
      from.pop_front();
    }
  }
  return least;
}

show::Timeline timeline_of(const Log& log, std::string title) {
  const auto [start, finish] = span_of(log);
  show::Timeline timeline;
  timeline.title = std::move(title);
  timeline.P = std::ssize(log);
  timeline.measured = true;
  timeline.ticks_per_microsecond = 1000;
  std::map<std::tuple<int, int, std::uint32_t>, std::vector<std::size_t>> sent;
  const auto at = [origin = start](std::int64_t nanoseconds) { return Time{nanoseconds - origin}; };
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (!event.sends) continue;
      sent[{rank, event.peer, event.tag}].push_back(timeline.messages.size());
      timeline.activities.push_back(
          {Rank{rank}, show::Doing::send, at(event.begin), at(event.end), std::ssize(timeline.messages), 1});
      const auto bytes = static_cast<std::int32_t>(std::min<std::size_t>(event.bytes, INT32_MAX));
      timeline.messages.push_back({Rank{rank}, Rank{event.peer}, at(event.end), at(event.end), {bytes, 1}, {}});
    }
  }
  std::map<std::tuple<int, int, std::uint32_t>, std::size_t> received;
  for (int rank = 0; rank < std::ssize(log); ++rank) {
    for (const run::RecordedEvent& event : log[static_cast<std::size_t>(rank)]) {
      if (event.sends) continue;
      const std::tuple pair{event.peer, rank, event.tag};
      const std::size_t number = received[pair]++;
      if (event.end == 0 || number >= sent[pair].size()) {
        ++timeline.left_out;
        continue;
      }
      const std::size_t message = sent[pair][number];
      show::Message& flight = timeline.messages[message];
      // Found by a call that began before the message was sent (its rank lost the core inside it, or clocks differ a little):
      // it was there no earlier than it was sent. The first activities are the sends, one a message.
      const Time found = std::max(at(event.begin), timeline.activities[message].begin);
      flight.departs = std::min(flight.departs, found);  // it may be there before the sender's call returns
      flight.arrives = found;
      timeline.activities.push_back({Rank{rank}, show::Doing::receive, found, std::max(found, at(event.end)),
                                     static_cast<std::int64_t>(message), 1});
    }
  }
  timeline.end = at(finish);
  for (const show::Activity& activity : timeline.activities) timeline.end = std::max(timeline.end, activity.end);
  normalise(timeline);
  return timeline;
}

std::string title_of(const Wanted& wanted, const Log& log, const std::string& ranks, const std::string& method) {
  const auto [first, last] = span_of(log);
  return fmt::format("{} of {} bytes on {} {} by {}, {:.2f} us", wanted.collective, wanted.words() * 8, log.size(),
                     ranks, method, static_cast<double>(last - first) / 1000);
}

std::string force_method(run::Comm& comm, const Wanted& wanted) {
  run::Call call{.kind = wanted.kind(), .count = wanted.words()};
  call.element = sizeof(std::int64_t);
  std::string there;
  for (const run::Choice& choice : comm.choices_for(call)) {
    const std::string name(to_string(choice.method));
    if (wanted.method.empty()) return name;
    there += (there.empty() ? "" : ", ") + name;
    if (name != wanted.method) continue;
    comm.force(choice);
    return name;
  }
  throw Error("--method {} is not there for this call: {}", wanted.method, there);
}

RecordedCall::RecordedCall(const Wanted& wanted, int ranks)
    : kind_(wanted.kind()), in_(static_cast<std::size_t>(wanted.words()), 1),
      all_(in_.size() * static_cast<std::size_t>(ranks), 1) {}

void RecordedCall::run(run::Comm& comm) {
  const std::span<const std::int64_t> mine(in_);
  const std::span<std::int64_t> whole(all_);
  const auto part = whole.first(in_.size());
  switch (kind_) {
    case Kind::barrier: return comm.barrier();
    case Kind::broadcast: return comm.broadcast(part);
    case Kind::reduce: return comm.reduce(mine, part, 0);
    case Kind::allreduce: return comm.allreduce(mine, part);
    case Kind::scan: return comm.scan(mine, part);
    case Kind::allgather: return comm.allgather(mine, whole);
    case Kind::gather: return comm.gather(mine, whole);
    case Kind::scatter: return comm.scatter(std::span<const std::int64_t>(all_), std::span(in_));
    default: return;
  }
}

}  // namespace chasqui::cli
