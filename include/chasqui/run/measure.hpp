// SPDX-License-Identifier: MIT
// Measuring a machine: LogGP's parameters per level, the cost of publishing to all, BSP's g and L, and what the
// collectives themselves take. In rounds, each on a communicator made anew; docs/measure.md says how each number is
// obtained.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/comm.hpp"
#include "chasqui/run/estimate.hpp"

namespace chasqui::run {

inline constexpr int kRounds = 9;        ///< the second and the eighth value hold the median in 96 of 100 cases
inline constexpr int kFewestRounds = 6;  ///< on slow networks; least and greatest then, 97 of 100
/// How long, and what to tell.
struct MeasureOptions {
  double seconds = 4;  ///< for everything, roughly
  std::function<void(double share, const std::string& what)> progress;  ///< called on rank 0
};

/// Makes a communicator and runs `body` on every rank of it (threads), or on this one (processes).
using Anew = std::function<void(const std::function<void(Comm&)>& body)>;

/// Collective: every process calls it; the result counts where rank 0 is. Two ranks at least; throws Error otherwise.
/// Where the communicator knows the MPI library's own collectives they are measured in turn with ours.
Profile measure(const Anew& anew, const MeasureOptions& options);

}  // namespace chasqui::run
