// SPDX-License-Identifier: MIT
// What of a schedule a picture can show.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {

/// Are both ranks 0..P-1? Files may say anything; pictures leave out what cannot be drawn.
inline bool drawable(const Schedule& schedule, const Send& send) {
  const auto exists = [&](Rank rank) { return rank.index >= 0 && rank.index < schedule.machine.P; };
  return exists(send.from) && exists(send.to);
}

}  // namespace chasqui::show
