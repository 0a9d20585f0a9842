// SPDX-License-Identifier: MIT
// What `record` runs: one collective, by a method of the caller's choice; what was recorded of it on every rank, and the timeline that gives.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/run/comm.hpp"
#include "chasqui/show/timeline.hpp"
#include "measure/record/recording.hpp"
#include "measure/sample_call.hpp"

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

struct RecordedCollective {
  std::string collective;
  std::int64_t bytes = 64;  ///< of one rank's contribution
  std::string method{};     ///< empty: what the communicator chooses

  Kind kind() const;  ///< throws Error if there is no such collective
  SampleCall call(int ranks) const { return SampleCall(kind(), static_cast<std::size_t>(bytes), ranks); }
};

/// "broadcast of 64 bytes on 4 threads by tree, 3.20 us"
std::string title_of(const RecordedCollective& what, const Log& log, const std::string& ranks,
                     const std::string& method);

/// Makes the communicator use the wanted method and returns its name. Throws Error if it is not there for this call.
std::string force_method(run::Comm& comm, const RecordedCollective& what);

}  // namespace chasqui::measure
