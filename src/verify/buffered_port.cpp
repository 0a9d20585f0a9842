// SPDX-License-Identifier: MIT
// The buffered model (docs/model.md): arrivals wait, the port takes the message that is needed first.
#include <limits>
#include <queue>
#include <tuple>

#include "verify/case.hpp"

namespace chasqui::verifier {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLate = 5 * (kMaxTime / 4);  ///< later than every arrival; clocks stop here

/// When a rank first sends each item: the date by which it needs it.
class Needs {
 public:
  explicit Needs(const Case& c) : case_(c), by_item_(!combines(c.problem().kind)) {}

  void load(std::size_t id) {
    first_.clear();
    if (!by_item_) return;
    for (const Event& event : case_.sends().of(id)) first_.emplace_back(case_.item(event.index), event.time);
    std::sort(first_.begin(), first_.end());
  }
  std::int64_t date(std::uint32_t message) const {
    if (!by_item_) return kNever;
    const std::int64_t item = case_.item(message);
    const auto place = std::lower_bound(first_.begin(), first_.end(), std::pair{item, -kNever});
    return place != first_.end() && place->first == item ? place->second : kNever;
  }

 private:
  const Case& case_;
  bool by_item_;
  std::vector<std::pair<std::int64_t, std::int64_t>> first_;
};

/// The first time from `time` on at which a receive overhead meets no send overhead. `next` moves along the sends.
std::int64_t clear_of_sends(std::span<const Event> sends, std::size_t& next, std::int64_t time, std::int64_t o) {
  if (o == 0) return time;
  while (next < sends.size() && sends[next].time + o <= time) ++next;
  for (std::size_t i = next; i < sends.size() && sends[i].time < time + o; ++i) {
    time = std::max(time, sends[i].time + o);
  }
  return time;
}

}  // namespace

std::vector<std::int64_t> play_ports(const Case& c, const Lanes& arrivals) {
  std::vector<std::int64_t> received(c.schedule().sends.size(), 0);
  const std::int64_t o = c.machine().o.ticks;
  Needs needs(c);
  using Waiting = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;  // needed by, arrived at, message
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> buffer;
  for (std::size_t id = 0; id < arrivals.count(); ++id) {
    const auto lane = arrivals.of(id);
    if (lane.empty()) continue;
    needs.load(id);
    std::size_t next_send = 0;
    std::size_t arrived = 0;
    std::int64_t free = lane[0].time;
    while (arrived < lane.size() || !buffer.empty()) {
      if (buffer.empty()) free = std::max(free, lane[arrived].time);
      free = clear_of_sends(c.sends().of(id), next_send, free, o);
      for (; arrived < lane.size() && lane[arrived].time <= free; ++arrived) {
        buffer.emplace(needs.date(lane[arrived].index), lane[arrived].time, lane[arrived].index);
      }
      received[std::get<2>(buffer.top())] = free;
      buffer.pop();
      free = std::min(kLate, free + c.machine().gap().ticks);
    }
  }
  return received;
}

}  // namespace chasqui::verifier
