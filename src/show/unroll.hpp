// SPDX-License-Identifier: MIT
// A stream lists one period of its steady state; pictures show its first items instead.
#pragma once

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {

/// Times in files lie within this many ticks of 0; what pictures add to them is cut there, so that differences fit.
inline constexpr std::int64_t kFarthest = 4'000'000'000'000'000'000;

/// The sends of a stream from time 0 until one period after its first item is everywhere, at most 20 000 of
/// them; `problem.items` becomes the number of items seen. Any other schedule: a copy.
Schedule unrolled(const Schedule& schedule);

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
