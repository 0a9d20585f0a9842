// SPDX-License-Identifier: MIT
// What was recorded of one run, on every rank, and the timeline that it gives.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/show/timeline.hpp"
#include "measure/record/recording.hpp"

namespace chasqui::measure {

using Log = std::vector<std::vector<RecordedEvent>>;  ///< by rank

/// From the first send to the last reception, in nanoseconds.
std::pair<std::int64_t, std::int64_t> span_of(const Log& log);

/// The same events by another clock, which the one that was read is ahead of.
void set_back(std::vector<RecordedEvent>& events, std::int64_t nanoseconds);

/// The least time from when a message was handed over to when it had been received; nothing without messages. Below 0:
/// the clocks differ by that much at least.
std::optional<std::int64_t> shortest_flight(const Log& log);

/// Messages of one pair and tag arrive in order, so the n-th send meets the n-th reception.
show::Timeline timeline_of(const Log& log, std::string title);

}  // namespace chasqui::measure
