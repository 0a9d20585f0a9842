// SPDX-License-Identifier: MIT
// By which levels of a node its short collectives go. A model: what was measured of one line to all ranks, what that takes inside each level,
// and how many ranks read a line. Nobody has timed it on a machine of several caches.
#pragma once

#include "run/choose/line_cost.hpp"

namespace chasqui::run {

/// A broadcast of so many bytes, that a slot holds, by some of the levels, a bit each.
double relay_time(const LineCosts& costs, unsigned levels, double bytes);

/// A fold of so many lines; `to_all`: all want the result, and it goes down as the climb says.
double climb_time(const LineCosts& costs, int lines, const Climb& climb, bool to_all);

/// A barrier, or a fold of one line or two, that goes by none.
double one_step_time(const LineCosts& costs, Kind kind, int lines);

/// The fastest, each for all sizes; of one or two lines all-reduces count.
struct BestLevels {
  unsigned relay = 0;
  std::array<Climb, 3> climbs{};  ///< as BoardGroups has them
};
/// None where there are no levels. `further`: the board has room for contributions of more than two lines.
const BestLevels& best_levels(const LineCosts& costs, bool further);

/// With the fastest levels. REQUIRES that there are some.
double relay_time(const LineCosts& costs, double bytes);
double level_fold_time(const LineCosts& costs, Kind kind, double bytes);

}  // namespace chasqui::run
