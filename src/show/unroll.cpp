// SPDX-License-Identifier: MIT
#include "show/unroll.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace chasqui::show {
namespace {

constexpr std::size_t kMostUnrolled = 20'000;

}  // namespace

Schedule unrolled(const Schedule& schedule) {
  Schedule result = schedule;
  const std::int64_t period = schedule.period.ticks;
  const std::int64_t step = schedule.machine.gap().ticks;
  if (schedule.problem.kind != Kind::stream || period < step || step < 1) return result;
  result.sends.clear();
  const std::int64_t items_a_period = period / step;
  const std::int64_t horizon = schedule.delay.ticks + period;
  std::int64_t last_item = 0;
  for (const Send& listed : schedule.sends) {
    // The first repetition whose item exists.
    const std::int64_t item = listed.part.lo;
    std::int64_t n = -(item / items_a_period);
    while (item + n * items_a_period < 0) ++n;
    while (item + (n - 1) * items_a_period >= 0) --n;
    for (;; ++n) {
      std::int64_t shift = 0;
      if (__builtin_mul_overflow(n, period, &shift) || std::abs(shift) > kFarthest) break;
      const Time begin = listed.begin + Time{shift};
      if (available(schedule.machine, {begin, listed.from, listed.to, listed.part}).ticks > horizon) break;
      if (result.sends.size() >= kMostUnrolled) break;
      const std::int64_t shown = item + n * items_a_period;
      if (shown > std::numeric_limits<std::int32_t>::max()) break;
      last_item = std::max(last_item, shown);
      result.sends.push_back({begin, listed.from, listed.to, {static_cast<std::int32_t>(shown), 1}});
    }
  }
  result.problem.items = last_item + 1;
  normalise(result);
  return result;
}

}  // namespace chasqui::show
