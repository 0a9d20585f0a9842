// SPDX-License-Identifier: MIT
// A collective run by messages alone and what was written down of it: what `record` shares between threads and MPI.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/run/comm.hpp"
#include "chasqui/show/timeline.hpp"
#include "run/messages/recording.hpp"

namespace chasqui::cli {

/// What to run.
struct Wanted {
  std::string collective;
  std::int64_t bytes = 64;
  std::string method{};  ///< empty: what the communicator chooses

  std::int64_t words() const { return (bytes + 7) / 8; }
  Kind kind() const;  ///< throws Error if there is no such collective
};

using Log = std::vector<std::vector<run::RecordedEvent>>;  ///< by rank

/// From the first send to the last reception, in nanoseconds.
std::pair<std::int64_t, std::int64_t> span_of(const Log& log);

/// The same events by another clock, which the one that was read is ahead of.
void set_back(std::vector<run::RecordedEvent>& events, std::int64_t nanoseconds);

/// The least time from when a message was handed over to when it had been received; nothing without messages. Below 0:
/// the clocks differ by that much at least.
std::optional<std::int64_t> shortest_flight(const Log& log);

/// Messages of one pair and tag arrive in order, so the n-th send meets the n-th reception.
show::Timeline timeline_of(const Log& log, std::string title);

/// "broadcast of 64 bytes on 4 threads by tree, 3.20 us"
std::string title_of(const Wanted& wanted, const Log& log, const std::string& ranks, const std::string& method);

/// Makes the communicator use the wanted method and returns its name. Throws Error if it is not there for this call.
std::string force_method(run::Comm& comm, const Wanted& wanted);

/// One rank's buffers and calls.
class RecordedCall {
 public:
  RecordedCall(const Wanted& wanted, int ranks);
  void run(run::Comm& comm);

 private:
  Kind kind_;
  std::vector<std::int64_t> in_, all_;
};

}  // namespace chasqui::cli
