// SPDX-License-Identifier: MIT
// Calls that go to the MPI library's own collective.
#include <exception>

#include "chasqui/run/comm.hpp"
#include "run/call/packed.hpp"
#include "run/comm/operation.hpp"

namespace chasqui::run {

/// All ranks come here, whatever else each has in flight. The library knows nothing of that and waits for its own
/// messages only, so it is finished first: the others wait for this rank's part of it before they come.
void Comm::run_native(const Call& call) {
  finish_in_flight();
  check_usable();
  const std::uint64_t number = ++number_;
  note(number, called(call));
  try {
    if (call.layout.contiguous()) return fabric_.native(call);
    const Packed packed(call, rank(), size());
    fabric_.native(packed.call);
    packed.deliver(rank(), size());
  } catch (...) {
    give_up(number);
    throw;
  }
}

}  // namespace chasqui::run
