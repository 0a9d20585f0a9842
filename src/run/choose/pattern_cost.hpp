// SPDX-License-Identifier: MIT
// What a symmetric pattern of messages takes: every rank does the same, shifted, so one rank's script tells all.
#pragma once

#include "chasqui/model/profile.hpp"
#include "run/messages/script.hpp"

namespace chasqui::run {

/// Nanoseconds of a symmetric script with messages of `bytes_per_block` a block.
double symmetric_time(const Script& script, const Level& level, double bytes_per_block);

/// The same where ranks share what carries their messages: waves of messages do not overlap, as in BSP's supersteps.
double superstep_time(const Script& script, const Level& level, double bytes_per_block);

}  // namespace chasqui::run
