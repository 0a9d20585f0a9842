// SPDX-License-Identifier: MIT
// Neighbours in time that are closer than the gap; in a stream the last event of a period precedes the first
// of the next.
#pragma once

#include <span>

#include "verify/case.hpp"

namespace chasqui::verifier {

template <typename Report>
void for_each_close_pair(const Case& c, std::span<const Event> events, Report report) {
  const std::int64_t gap = c.machine().gap().ticks;
  for (std::size_t i = 1; i < events.size(); ++i) {
    const std::int64_t apart = events[i].time - events[i - 1].time;
    if (apart < gap) report(events[i - 1], events[i], apart);
  }
  if (c.period() == 0 || events.empty()) return;
  const std::int64_t apart = events.front().time + (c.period() - events.back().time);
  if (apart < gap) report(events.back(), events.front(), apart);
}

}  // namespace chasqui::verifier
