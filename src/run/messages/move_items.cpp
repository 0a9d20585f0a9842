// SPDX-License-Identifier: MIT
#include <algorithm>

#include "run/board/fold.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/messages/outstanding.hpp"

namespace chasqui::run {
namespace {

/// When the plan's time 0 was, on this rank's clock: its own start, or what the messages tell. Messages are late, never
/// early, so the one that tells the earliest origin is right.
class Origin {
 public:
  Origin(const Script& script, const std::vector<Step>& steps, double start) : script_(script) {
    if (steps.empty() || steps[0].receives) return;
    known_ = true;
    at_ = start + (script.reversed ? script.pace.tick * static_cast<double>(script.pace.finish.ticks) : 0);
  }
  double time_of(const Step& step) const { return at_ + script_.pace.tick * static_cast<double>(step.at.ticks); }
  void arrived(const Step& step, double now) {
    const Time sent = step.at - script_.machine.lambda();
    const double told = now - script_.pace.flight - script_.pace.tick * static_cast<double>(sent.ticks);
    at_ = known_ ? std::min(at_, told) : told;
    known_ = true;
  }

 private:
  const Script& script_;
  bool known_ = false;
  double at_ = 0;
};

}  // namespace

Task move_items(Group group, Script script, std::byte* data, std::size_t count, std::size_t element, std::int64_t items,
                Operator op) {
  const auto steps = steps_of(script);
  const auto begin = [&](std::int64_t item) {
    return share_begin(count, static_cast<int>(items), static_cast<int>(item));
  };
  const auto bytes = [&](const Step& step) { return (begin(step.part.lo + 1) - begin(step.part.lo)) * element; };
  const auto place = [&](const Step& step) { return data + begin(step.part.lo) * element; };
  Room arrivals;  // only when folding: one buffer per reception
  if (script.reversed) {
    std::size_t total = 0;
    for (const Step& step : steps) total += step.receives ? bytes(step) : 0;
    arrivals = room_for(total);
  }
  Outstanding messages(group);
  std::vector<std::size_t> index(steps.size());
  std::size_t used = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].receives || (bytes(steps[i]) == 0 && items > 1)) continue;
    std::byte* to = script.reversed ? arrivals.data() + used : place(steps[i]);
    if (script.reversed) used += bytes(steps[i]);
    index[i] = messages.receive(steps[i].peer, to, bytes(steps[i]));
  }
  used = 0;
  const bool paced = script.pace.tick > 0;
  Transport& transport = *group.transport;
  Origin origin(script, steps, paced ? transport.clock() : 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (bytes(step) == 0 && items > 1) continue;
    if (!step.receives) {
      if (paced) co_await Planned(transport, origin.time_of(step));
      index[i] = messages.send(step.peer, place(step), bytes(step));
      continue;
    }
    co_await messages.complete(index[i]);
    if (paced) origin.arrived(step, transport.clock());
    if (script.reversed && bytes(step) != 0) {
      op(place(step), arrivals.data() + used, place(step), bytes(step) / element);
      used += bytes(step);
    }
  }
  for (std::size_t i = 0; i < messages.count(); ++i) {
    if (messages.open(i)) co_await messages.complete(i);
  }
}

}  // namespace chasqui::run
