// SPDX-License-Identifier: MIT
// The clocks of ranks compared. Hosts have clocks of their own: a message to a rank and back brings its time; the middle of
// the trip and that time are the same moment, give or take half the trip, whatever the network does. The shortest of several
// trips counts.
#pragma once

#include <functional>

#include "chasqui/base/clock.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::measure {

/// A rank's clock against rank 0's.
struct ClockOffset {
  double ahead = 0;        ///< nanoseconds that this rank's clock shows more
  double uncertainty = 0;  ///< half the shortest round trip: no error is greater
};

/// Collective, over the communicator's messages; each rank has its own clock, and eight of them at a time talk to rank 0.
/// Time: trips * P / 8 round trips.
ClockOffset clock_offset(const run::Comm& comm, const std::function<double()>& clock, int trips = 5);

}  // namespace chasqui::measure
