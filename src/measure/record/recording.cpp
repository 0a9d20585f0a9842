// SPDX-License-Identifier: MIT
#include "measure/record/recording.hpp"

#include <utility>

namespace chasqui::measure {

run::Transport::Ticket RecordingTransport::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  const std::int64_t begin = clock_nanoseconds();
  const Ticket ticket = inner_->send(to, tag, data, bytes);
  events_.push_back({true, to, tag, bytes, begin, clock_nanoseconds()});
  if (receptions_.size() <= static_cast<std::size_t>(ticket))
    receptions_.resize(static_cast<std::size_t>(ticket) + 1, -1);
  receptions_[static_cast<std::size_t>(ticket)] = -1;
  return ticket;
}

run::Transport::Ticket RecordingTransport::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket = inner_->receive(from, tag, data, bytes);
  if (receptions_.size() <= static_cast<std::size_t>(ticket))
    receptions_.resize(static_cast<std::size_t>(ticket) + 1, -1);
  receptions_[static_cast<std::size_t>(ticket)] = static_cast<std::int64_t>(events_.size());
  events_.push_back({false, from, tag, bytes, 0, 0});
  return ticket;
}

bool RecordingTransport::done(Ticket ticket) {
  const std::int64_t event = receptions_[static_cast<std::size_t>(ticket)];
  if (event < 0) return inner_->done(ticket);
  const std::int64_t begin = clock_nanoseconds();
  if (!inner_->done(ticket)) return false;
  auto& reception = events_[static_cast<std::size_t>(event)];
  reception.begin = begin;
  reception.end = clock_nanoseconds();
  return true;
}

std::vector<RecordedEvent> RecordingTransport::take() { return std::exchange(events_, {}); }

}  // namespace chasqui::measure
