// SPDX-License-Identifier: MIT
#include "plan/published/ports.hpp"

namespace chasqui::plan {
namespace {

/// The least time from `time` on that is at least `distance` away from every member of `taken`.
Time clear_of(const std::set<Time>& taken, Time time, Time distance) {
  for (auto other = taken.upper_bound(time - distance); other != taken.end() && *other < time + distance;
       other = taken.upper_bound(time - distance)) {
    time = *other + distance;
  }
  return time;
}

}  // namespace

Ports::Ports(const LogP& machine) : machine_(machine), ports_(static_cast<std::size_t>(machine.P)) {}

Time Ports::next_legal(const Port& from, const Port& to, Time begin) const {
  const Time flight = machine_.o + machine_.L;
  begin = clear_of(from.sends, begin, machine_.gap());
  begin = clear_of(from.receptions, begin, machine_.o);
  begin = clear_of(to.receptions, begin + flight, machine_.gap()) - flight;
  return clear_of(to.sends, begin + flight, machine_.o) - flight;
}

Time Ports::place(Rank from, Rank to, Time ready) {
  Port& sender = ports_[static_cast<std::size_t>(from.index)];
  Port& receiver = ports_[static_cast<std::size_t>(to.index)];
  Time begin = ready;
  if (!sender.sends.empty()) begin = std::max(begin, *sender.sends.rbegin() + machine_.gap());
  for (Time next = next_legal(sender, receiver, begin); next != begin; next = next_legal(sender, receiver, begin)) {
    begin = next;
  }
  sender.sends.insert(begin);
  receiver.receptions.insert(begin + machine_.o + machine_.L);
  return begin;
}

}  // namespace chasqui::plan
