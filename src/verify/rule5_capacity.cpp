// SPDX-License-Identifier: MIT
// Rule 5: at most ceil(L/g) messages are in flight from any processor and to any processor.
// Buffered: at most `buffer` messages are left waiting at any processor.
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "verify/rules.hpp"

namespace chasqui::verifier {
namespace {

__extension__ using Wide = __int128;

/// More than `capacity` events within L ticks: event i + capacity comes less than L after event i.
template <typename Report>
void for_each_excess(const Case& c, std::span<const Event> events, Report report) {
  const std::int64_t L = c.machine().L.ticks;
  if (L == 0 || events.empty()) return;  // nothing is ever in flight
  const auto capacity = static_cast<std::size_t>(divide_up(L, c.machine().g.ticks));
  const std::size_t n = events.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (c.period() == 0 && capacity >= n - i) return;
    const std::size_t excess = i + capacity;
    const Wide lap = static_cast<Wide>(c.period()) * static_cast<Wide>(excess / n);
    if (events[excess % n].time + lap - events[i].time < L) report(events[excess % n], capacity);
  }
}

void network(const Case& c, Findings& findings) {
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const Rank rank = c.ranks().rank(id);
    for_each_excess(c, c.sends().of(id), [&](const Event& event, std::size_t capacity) {
      findings.add(5, rank, event.time, event.index, "this send leaves more than {} messages in flight from it",
                   capacity);
    });
    for_each_excess(c, c.receptions().of(id), [&](const Event& event, std::size_t capacity) {
      findings.add(5, rank, event.time, event.index, "before this reception more than {} messages are in flight to it",
                   capacity);
    });
  }
}

void buffers(const Case& c, Findings& findings) {
  const std::int64_t flight = (c.machine().o + c.machine().L).ticks;
  std::vector<Event> arrivals;
  for (std::size_t id = 0; id < c.ranks().count(); ++id) {
    const auto receptions = c.receptions().of(id);
    arrivals.clear();
    for (const Event& event : receptions) arrivals.push_back({c.begin(event.index) + flight, event.index});
    std::sort(arrivals.begin(), arrivals.end(),
              [](const Event& a, const Event& b) { return a.time != b.time ? a.time < b.time : a.index < b.index; });
    std::size_t begun = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (i + 1 < arrivals.size() && arrivals[i + 1].time == arrivals[i].time) continue;
      while (begun < receptions.size() && receptions[begun].time <= arrivals[i].time) ++begun;
      const auto waiting = static_cast<std::int64_t>(i + 1 - begun);
      if (waiting <= c.options().buffer) continue;
      findings.add(5, c.ranks().rank(id), arrivals[i].time, arrivals[i].index,
                   "{} messages are left waiting in its buffer, which has room for {}", waiting, c.options().buffer);
    }
  }
}

}  // namespace

void rule5_capacity(const Case& c, Findings& findings) {
  if (!findings.wants(5)) return;
  if (c.buffered()) {
    buffers(c, findings);
  } else {
    network(c, findings);
  }
}

}  // namespace chasqui::verifier
