// SPDX-License-Identifier: MIT
#include "show/axis.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::show {

std::int64_t nice_step(std::int64_t span, std::int64_t most) {
  const std::int64_t least = std::max<std::int64_t>(1, divide_up(span, std::max<std::int64_t>(1, most)));
  for (std::int64_t power = 1;; power = saturating_multiply(power, 10)) {
    for (const std::int64_t factor : {1, 2, 5}) {
      const std::int64_t step = saturating_multiply(power, factor);
      if (step >= least || step == kSaturated) return step;
    }
  }
}

std::vector<Time> axis_marks(Time begin, Time end, std::int64_t most) {
  const std::int64_t step = nice_step(end.ticks - begin.ticks, most);
  std::vector<Time> marks;
  std::int64_t mark = begin.ticks / step * step;
  if (mark < begin.ticks) mark += step;
  for (; mark <= end.ticks && mark <= kSaturated - step; mark += step) marks.push_back(Time{mark});
  return marks;
}

}  // namespace chasqui::show
