// SPDX-License-Identifier: MIT
// What a symmetric pattern of messages takes: every rank does the same, shifted, so one rank's part tells all.
#pragma once

#include "chasqui/model/profile.hpp"
#include "run/messages/local_plan.hpp"

namespace chasqui::run {

/// Nanoseconds of a symmetric plan with messages of `bytes_per_block` a block.
double symmetric_time(const LocalPlan& plan, const Level& level, double bytes_per_block);

/// What a pattern takes where ranks share what carries their messages: waves of messages do not overlap, as in BSP's supersteps.
double superstep_time(const LocalPlan& plan, const Level& level, double bytes_per_block);

}  // namespace chasqui::run
