// SPDX-License-Identifier: MIT
// A schedule as GOAL text, the input of the LogGOPS simulators: sends, receptions and calculations per rank with what
// they require. An action requires what its rank does before it in the plan, and a pause of the plan is a calculation: with
// latency L, and o, g and G = 0 as planned, a legal schedule plays to its finish.
#pragma once

#include <string>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::simulate {

/// Every message has `bytes` bytes (with G = 0 their number does not matter) and a tag of its own.
std::string to_goal(const Schedule& schedule, std::int64_t bytes = 8);

}  // namespace chasqui::simulate
