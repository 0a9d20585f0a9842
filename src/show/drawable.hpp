// SPDX-License-Identifier: MIT
// What of a schedule a picture can show.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {

/// Do messages carry folds of contributions? (Reductions of many items name the item instead.)
inline bool carries_folds(const Problem& problem) {
  return combines(problem.kind) && !(problem.kind == Kind::reduce && problem.items > 1);
}

/// Are both ranks 0..P-1? Files may say anything; pictures leave out what cannot be drawn.
inline bool drawable(const Schedule& schedule, const Send& send) {
  const auto exists = [&](Rank rank) { return rank.index >= 0 && rank.index < schedule.machine.P; };
  return exists(send.from) && exists(send.to);
}

}  // namespace chasqui::show
