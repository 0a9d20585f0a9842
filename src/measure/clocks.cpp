// SPDX-License-Identifier: MIT
#include "measure/clocks.hpp"

#include <time.h>

#include <algorithm>
#include <limits>

#include "chasqui/run/choose.hpp"
#include "measure/message_probe.hpp"
#include "measure/waiting.hpp"
#include "run/comm/fabric.hpp"

namespace chasqui::measure {

using namespace run;

namespace {

constexpr std::uint32_t kClockTag = kProbeTag + 2;
constexpr int kTogether = 8;  ///< more at a time would wait for each other at rank 0, and the trips grow

/// Rank 0: one round trip to each of the ranks from .. to-1, all under way together.
void trips_to(const Fabric& fabric, const std::function<double()>& clock, int from, int to,
              std::vector<ClockOffset>& best) {
  Transport& transport = *fabric.messages;
  struct Trip {
    double sent = 0, answer = 0;
    Transport::Ticket ticket = kNoTicket;
  };
  const double ask = 0;
  std::vector<Trip> trips(static_cast<std::size_t>(to - from));
  for (int r = from; r < to; ++r) {
    Trip& trip = trips[static_cast<std::size_t>(r - from)];
    trip.ticket = transport.receive(r, kClockTag, &trip.answer, sizeof trip.answer);
    trip.sent = clock();
    finish(fabric, transport.send(r, kClockTag, &ask, sizeof ask));
  }
  Waiting waiting(fabric);
  for (std::size_t open = trips.size(); open > 0; waiting.pause(false)) {
    for (std::size_t i = 0; i < trips.size(); ++i) {
      Trip& trip = trips[i];
      if (trip.ticket == kNoTicket) continue;
      if (fabric.timing.blocks) transport.wait(trip.ticket);
      if (!transport.done(trip.ticket)) continue;
      const double now = clock();
      trip.ticket = kNoTicket;
      --open;
      const double half = (now - trip.sent) / 2;
      ClockOffset& known = best[static_cast<std::size_t>(from) + i];
      if (half < known.uncertainty) known = {trip.answer - (trip.sent + half), half};
    }
  }
}

}  // namespace

ClockOffset clock_offset(const Comm& comm, const std::function<double()>& clock, int trips) {
  const Fabric& fabric = fabric_of(comm);
  Transport& transport = *fabric.messages;
  ClockOffset own;
  if (comm.rank() != 0) {
    for (int i = 0; i < trips; ++i) {
      double ask = 0;
      finish(fabric, transport.receive(0, kClockTag, &ask, sizeof ask));
      const double answer = clock();
      finish(fabric, transport.send(0, kClockTag, &answer, sizeof answer));
    }
    finish(fabric, transport.receive(0, kClockTag, &own, sizeof own));
    return own;
  }
  const int size = comm.size();
  std::vector<ClockOffset> best(static_cast<std::size_t>(size),
                                ClockOffset{0, std::numeric_limits<double>::infinity()});
  for (int from = 1; from < size; from += kTogether) {
    const int to = std::min(size, from + kTogether);
    for (int i = 0; i < trips; ++i) trips_to(fabric, clock, from, to, best);
    for (int r = from; r < to; ++r) {
      finish(fabric, transport.send(r, kClockTag, &best[static_cast<std::size_t>(r)], sizeof(ClockOffset)));
    }
  }
  return own;
}

}  // namespace chasqui::measure
