// SPDX-License-Identifier: MIT
// Integer arithmetic on the non-negative half of int64 that saturates instead of overflowing.
// A saturated value reads "at least 2^63 - 1": enough for every comparison with a processor count or a time.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace chasqui {

inline constexpr std::int64_t kSaturated =
    std::numeric_limits<std::int64_t>::max();  ///< what saturating operations answer instead of anything larger

/// a + b, or kSaturated. REQUIRES a, b >= 0.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  return a > kSaturated - b ? kSaturated : a + b;
}

/// a * b, or kSaturated. REQUIRES a, b >= 0.
constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kSaturated : product;
}

/// ceil(a / b). REQUIRES a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The residue of a in 0 .. m-1, also of negative a. REQUIRES m > 0.
constexpr std::int64_t modulo(std::int64_t a, std::int64_t m) { return a % m < 0 ? a % m + m : a % m; }

/// The binomial coefficient C(n, k), or kSaturated. Time: O(min(k, n-k)), at most 62 steps before saturating
/// unless min(k, n-k) is 0 or 1. REQUIRES n, k >= 0.
std::int64_t saturating_binomial(std::int64_t n, std::int64_t k);

/// a + b and a * b that throw an Error naming `what` when the result does not fit. REQUIRES a, b >= 0.
std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);
std::int64_t checked_multiply(
    std::int64_t a, std::int64_t b,
    std::string_view what);  ///< a * b; an Error that names `what` where it does not fit into 63 bits

}  // namespace chasqui
