// SPDX-License-Identifier: MIT
// What `record` runs: one collective, by a method of the caller's choice.
#pragma once

#include <string>

#include "chasqui/run/comm.hpp"
#include "measure/record/log.hpp"
#include "measure/sample_call.hpp"

namespace chasqui::measure {

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
