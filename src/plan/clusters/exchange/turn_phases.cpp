// SPDX-License-Identifier: MIT
#include "plan/clusters/exchange/turn_phases.hpp"

#include <algorithm>

namespace chasqui::plan {

std::int64_t turns_in(const TurnRanges& ranges) {
  std::int64_t count = 0;
  for (const TurnRange& range : ranges) count += range.end - range.first;
  return count;
}

TurnRanges without(const TurnRanges& ranges, const TurnRange& cut) {
  if (cut.first >= cut.end) return ranges;
  TurnRanges left;
  for (const TurnRange& range : ranges) {
    const TurnRange below{range.first, std::min(range.end, cut.first)};
    const TurnRange above{std::max(range.first, cut.end), range.end};
    if (below.first < below.end) left.push_back(below);
    if (above.first < above.end) left.push_back(above);
  }
  return left;
}

/// Calls visit(first, end) for numbers w of places with which clocks are less than o away from `behind` apart, modulo the length. Clocks that are w
/// places apart are w * span / n apart, rounded down or up.
template <typename Visit>
void TurnPhases::for_meetings(std::int64_t behind, const Visit& visit) const {
  if (o_ == 0) return;
  const WideTicks n = clocks_.n, span = clocks_.span;
  for (std::int64_t around = -1; around <= 1; ++around) {
    const std::int64_t low = behind + around * length_ - o_, high = low + 2 * o_;
    if (span == 0) {
      if (low < 0 && high > 0) visit(std::int64_t{0}, clocks_.n + 1);
      continue;
    }
    // ceil(w * span / n) > low and floor(w * span / n) < high
    const WideTicks first = low < 0 ? 0 : low * n / span + 1, end = high <= 0 ? 0 : (high * n + span - 1) / span;
    if (first < end && first <= n)
      visit(static_cast<std::int64_t>(first), static_cast<std::int64_t>(std::min(end, n + 1)));
  }
}

TurnRanges TurnPhases::possible(TurnRanges turns, bool backwards) const {
  const std::int64_t n = clocks_.n, mirrored = modulo(-phase_, length_);
  // A sender is u places before its receiver, or, around the end, n - u places after it. Backwards it is the other way round.
  for_meetings(backwards ? mirrored : phase_, [&](std::int64_t first, std::int64_t end) {
    turns = without(turns, {first, end});
  });
  for_meetings(backwards ? phase_ : mirrored, [&](std::int64_t first, std::int64_t end) {
    turns = without(turns, {std::max<std::int64_t>(1, n - end + 1), n - std::max<std::int64_t>(first, 1) + 1});
  });
  return turns;
}

}  // namespace chasqui::plan
