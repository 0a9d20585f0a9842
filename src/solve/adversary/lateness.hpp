// SPDX-License-Identifier: MIT
// When a message is late.
#pragma once

#include <vector>

#include "chasqui/solve/worst_case.hpp"

namespace chasqui::solve {

/// For every message, and then for every reading, the time by which it is due: the planned finish of the schedule, or of the item it carries.
std::vector<Time> due_times(const Schedule& schedule, Lateness lateness);

/// How late the play was.
Time lateness_of(const Trace& trace, const std::vector<Time>& due);

}  // namespace chasqui::solve
