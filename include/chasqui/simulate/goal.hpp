// SPDX-License-Identifier: MIT
// A schedule as GOAL text, the input of the LogGOPS simulators: sends, receptions and calculations per rank with what
// they require. An action requires what its rank does before it in the plan, and a pause of the plan is a calculation: with
// latency L, and o, g and G = 0 as planned, a legal schedule plays to its finish. A node of a cluster is one rank of the text;
// its ranks are processors with an adapter each, and what they do on the board is a calculation that readers require. Where
// o = 0 a plan may send while its rank publishes; a simulator's processor is busy then and sends later.
#pragma once

#include <string>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::simulate {

/// Every message has `bytes` bytes (with G = 0 their number does not matter) and a tag of its own.
std::string to_goal(const Schedule& schedule, std::int64_t bytes = 8);

}  // namespace chasqui::simulate
