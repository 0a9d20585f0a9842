// SPDX-License-Identifier: MIT
// What one rank of each node, its leader, exchanges with the others in two levels. Asked by whoever predicts it and by whoever
// plays it: both see the same messages.
#pragma once

#include "chasqui/run/choose.hpp"

namespace chasqui::run {

/// How the leaders talk, with the predicted time of that; without words. REQUIRES several nodes.
Choice leaders_choice(const Query& query, const Topology& topology, const Profile& profile);

/// What their nodes do before and after that, on boards: predicted. REQUIRES a collective of buffers.
double leaders_boards_time(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
