// SPDX-License-Identifier: MIT
#include "plan/postal_step.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {

std::vector<PostalStep> postal_steps(const LogP& machine) {
  const std::int64_t L = machine.L.ticks;
  const std::int64_t far = machine.lambda().ticks;
  const std::int64_t least = std::max({std::int64_t{1}, machine.g.ticks, 2 * machine.o.ticks});
  if (machine.o == Time{0}) return {{Time{least}, std::max<std::int64_t>(1, divide_up(far, least))}};
  std::vector<PostalStep> steps;
  // With latency c steps, c*q is the first multiple beyond L: it must be at least L+2o, and (c-1)*q at most L.
  constexpr std::size_t kMost = 4;
  for (std::int64_t c = L / least + 1; c >= 1 && steps.size() < kMost; --c) {
    const std::int64_t q = std::max(least, divide_up(far, c));
    if ((c - 1) * q <= L) steps.push_back({Time{q}, c});
  }
  if (steps.empty()) steps.push_back({Time{std::max(least, far)}, 1});
  return steps;
}

}  // namespace chasqui::plan
