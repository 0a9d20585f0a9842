// SPDX-License-Identifier: MIT
// Two contestants that take turns, a slice of the rounds each, so that drift hits both alike: a machine's times may change by
// half within a second.
#pragma once

#include <vector>

#include "chasqui/measure/bench.hpp"
#include "measure/common_start.hpp"

namespace chasqui::measure {

inline constexpr int kSlices = 8;

/// Collective: the latest finish of each round, after a tenth as many rounds, and two, that do not count.
std::vector<double> timed_rounds(CommonStart& start, int rounds, const std::function<void()>& body);

struct Turns {
  Quartiles a, b, ratio;  ///< times of all rounds; and a / b of the medians of neighbouring slices
};
/// Calls a and b by turns for the times of a slice each, of rounds_per_slice() rounds; a rank for which they give none
/// gets nothing.
Turns take_turns(const std::function<std::vector<double>()>& a, const std::function<std::vector<double>()>& b);
inline int rounds_per_slice(int rounds) { return rounds / kSlices + 1; }

}  // namespace chasqui::measure
