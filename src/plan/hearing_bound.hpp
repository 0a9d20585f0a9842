// SPDX-License-Identifier: MIT
// Lower bounds for the collectives in which everybody hears from everybody.
#pragma once

#include "chasqui/model/logp.hpp"

namespace chasqui::plan {

/// Before this instant no contribution can have reached all P ranks, nor can one rank have heard from all: the last
/// label B(P) of the broadcast tree. Time: O(log T) evaluations of the closed form of P(T).
Time hearing_bound(const LogP& machine);

}  // namespace chasqui::plan
