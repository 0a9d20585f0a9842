// SPDX-License-Identifier: MIT
// Calls that go to the MPI library's own collective.
#include <exception>

#include "chasqui/run/comm.hpp"
#include "run/comm/operation.hpp"

namespace chasqui::run {

/// REQUIRES contiguous layouts. All ranks come here, whatever else each has in flight. The library knows nothing of that and waits for its own
/// messages only, so it is finished first: the others wait for this rank's part of it before they come.
void Comm::run_native(const Call& call) {
  finish_in_flight();
  check_usable();
  const std::uint64_t number = ++number_;
  note(number, called(call));
  try {
    fabric_.native(call);
  } catch (...) {
    give_up(number);
    throw;
  }
}

}  // namespace chasqui::run
