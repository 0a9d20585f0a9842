// SPDX-License-Identifier: MIT
// Where to put the numbers of a time axis.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/model/units.hpp"

namespace chasqui::show {

/// The least step 1, 2 or 5 times a power of ten that puts at most `most` numbers on `span` ticks.
std::int64_t nice_step(std::int64_t span, std::int64_t most);

/// Multiples of the nice step inside [begin, end].
std::vector<Time> axis_marks(Time begin, Time end, std::int64_t most);

}  // namespace chasqui::show
