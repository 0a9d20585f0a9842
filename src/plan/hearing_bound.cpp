// SPDX-License-Identifier: MIT
#include "plan/hearing_bound.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

/// Ranks reached by time T, at least `enough` when that many: 1 + sum over b of C(A_b + b, b + 1), or over the depth a,
/// whichever has fewer terms.
std::int64_t reached(std::int64_t T, std::int64_t lambda, std::int64_t G, std::int64_t enough) {
  std::int64_t count = 1;
  if (G >= lambda) {
    for (std::int64_t b = 0; b <= T / G && count < enough; ++b) {
      count = saturating_add(count, saturating_binomial((T - b * G) / lambda + b, b + 1));
    }
  } else {
    for (std::int64_t a = 1; a <= T / lambda && count < enough; ++a) {
      count = saturating_add(count, saturating_binomial(a + (T - a * lambda) / G, a));
    }
  }
  return count;
}

}  // namespace

Time hearing_bound(const LogP& machine) {
  const std::int64_t lambda = machine.lambda().ticks;
  const std::int64_t G = machine.gap().ticks;
  if (machine.P == 1) return Time{0};
  std::int64_t low = 0, high = lambda;
  while (reached(high, lambda, G, machine.P) < machine.P) low = high, high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (reached(middle, lambda, G, machine.P) < machine.P ? low : high) = middle;
  }
  return Time{high};
}

}  // namespace chasqui::plan
