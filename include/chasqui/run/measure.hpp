// SPDX-License-Identifier: MIT
// Measuring a machine through a communicator: LogGP's parameters per level, the cost of publishing to all, BSP's g and L.
// Medians with distribution-free 95 % intervals; docs/measure.md says how each number is obtained.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::run {

struct MeasureOptions {
  double seconds = 4;  ///< for everything, roughly
  std::function<void(double share, const std::string& what)> progress;  ///< called on rank 0
};

/// The median with the order statistics that hold the true one in 95 of 100 samples. REQUIRES samples not empty.
Estimate median_of(std::vector<double> samples);

/// Message sizes at which the time per message jumps above what the smaller sizes announce (protocol switches).
std::vector<std::int64_t> switches_in(const std::vector<std::pair<std::int64_t, double>>& times);

/// Collective; the result counts on rank 0. `partner` is the rank that rank 0 exchanges messages with.
Level measure_messages(Comm& comm, const std::string& name, int partner, const MeasureOptions& options);

/// Adds publish, publish_per_rank and copy to a level. REQUIRES a board that spans all ranks.
void measure_board(Comm& comm, Level& level, const MeasureOptions& options);

/// BSP: supersteps in which everybody sends and gets h words.
void measure_bsp(Comm& comm, Profile& profile, const MeasureOptions& options);

/// All of the above for this communicator. Two ranks at least; throws Error otherwise.
Profile measure(Comm& comm, const MeasureOptions& options);

}  // namespace chasqui::run
