// SPDX-License-Identifier: MIT
#include "chasqui/base/arithmetic.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui {

std::int64_t saturating_binomial(std::int64_t n, std::int64_t k) {
  if (k > n) return 0;
  k = std::min(k, n - k);
  // C(n, i) = C(n, i-1) * (n-i+1) / i is exact at every step, and grows while i <= n/2.
  __extension__ using Wide = unsigned __int128;
  Wide value = 1;
  for (std::int64_t i = 1; i <= k; ++i) {
    value = value * static_cast<Wide>(n - i + 1) / static_cast<Wide>(i);
    if (value >= static_cast<Wide>(kSaturated)) return kSaturated;
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
  const std::int64_t sum = saturating_add(a, b);
  if (sum == kSaturated) throw Error("{} exceeds 2^63 ticks: use a coarser unit of time", what);
  return sum;
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what) {
  const std::int64_t product = saturating_multiply(a, b);
  if (product == kSaturated) throw Error("{} exceeds 2^63 ticks: use a coarser unit of time", what);
  return product;
}

}  // namespace chasqui
