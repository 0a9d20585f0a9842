// SPDX-License-Identifier: MIT
// What all-reduces in pieces that ranks lead by turns cost (led_pieces.hpp).
#pragma once

#include <optional>

#include "run/choose/lane_way.hpp"

namespace chasqui::run {

LedCosts led_costs(const LedPieces& pieces, const Query& query, const Topology& topology, const Profile& profile);
/// The fastest, if it takes less than `limit` nanoseconds.
std::optional<LaneWay> led_way(const Query& query, const Topology& topology, const Profile& profile, double limit);

}  // namespace chasqui::run
