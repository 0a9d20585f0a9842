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
  std::uint64_t value = 1;
  for (std::int64_t i = 1; i <= k; ++i) {
    const auto factor = static_cast<std::uint64_t>(n - i + 1);
    const auto divisor = static_cast<std::uint64_t>(i);
    std::uint64_t product = 0;
    if (!__builtin_mul_overflow(value, factor, &product)) {
      value = product / divisor;
    } else {  // the product needs more than 64 bits, which is rare and slow
      const Wide quotient = static_cast<Wide>(value) * factor / divisor;
      if (quotient >= static_cast<Wide>(kSaturated)) return kSaturated;
      value = static_cast<std::uint64_t>(quotient);
    }
    if (value >= static_cast<std::uint64_t>(kSaturated)) return kSaturated;
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
