// SPDX-License-Identifier: MIT
// Measuring a machine: LogGP's parameters per level, the cost of publishing to all, BSP's g and L, and what the
// collectives themselves take. In rounds, each on a fresh communicator; docs/measure.md says how each number is
// obtained.
#pragma once

#include <functional>
#include <string>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::measure {

inline constexpr int kRounds = 9;  ///< the second and the eighth value hold the median in 96 of 100 cases
/// How long, and what to tell.
struct MeasureOptions {
  double seconds = 4;  ///< for everything; what does not fit is cut short
  bool tables = true;  ///< time the collectives themselves, too
  std::function<void(double share, const std::string& what)> progress;  ///< called on rank 0
};

/// Makes a fresh communicator and runs `body` on every rank of it (threads), or on this one (processes).
using WithComm = std::function<void(const std::function<void(run::Comm&)>& body)>;

/// What was found, and what had to be cut short to stay within the stated time.
struct Measurement {
  Profile profile;                         ///< what was found
  double stated = 0, taken = 0;            ///< seconds
  int rounds = 0;                          ///< kRounds where there was time
  int hasty = 0;                           ///< rounds in which one sample of some parameter had to do
  double clocks = 0;                       ///< nanoseconds by which times may be off because the hosts' clocks differ
  std::size_t timed = 0, collectives = 0;  ///< kinds and sizes that were timed, of how many
};

/// Collective: every process calls it; the result counts where rank 0 is. Two ranks at least; throws Error otherwise.
/// Where the communicator knows the MPI library's own collectives they are measured in turn with ours.
/// Time: the stated one and what is under way when it is over; at the least one sample of every parameter.
Measurement measure(const WithComm& with_comm, const MeasureOptions& options);

/// Lines for people, the last one ended.
std::string to_text(const Measurement& measurement);

}  // namespace chasqui::measure
