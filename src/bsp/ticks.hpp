// SPDX-License-Identifier: MIT
// A clock that costs a few instructions: the counter of the core, where it runs at one speed on all of them. A superstep
// reads it twice.
#pragma once

#include <cstdint>

#include "chasqui/base/clock.hpp"
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace chasqui::bsp::detail {

/// Nanoseconds from differences of now().
class Ticks {
 public:
  static std::int64_t now() {
#if defined(__aarch64__)
    std::int64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#elif defined(__x86_64__)
    if (speed() != 1.0) return static_cast<std::int64_t>(__rdtsc());
    return clock_nanoseconds();
#else
    return clock_nanoseconds();
#endif
  }
  static std::int64_t nanoseconds(std::int64_t ticks) {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * speed());
  }

 private:
  /// Nanoseconds a tick; 1: the counter is not to be trusted, and ticks are nanoseconds.
  static double speed() {
    static const double known = find_speed();
    return known;
  }
  static double find_speed() {
#if defined(__aarch64__)
    std::int64_t hertz = 0;
    asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return 1e9 / static_cast<double>(hertz);
#elif defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & 1U << 8) == 0) return 1;  // no invariant counter
    constexpr std::int64_t kLong = 200'000;
    const std::int64_t begin = clock_nanoseconds();
    const auto first = __rdtsc();
    std::int64_t end = begin;
    while (end - begin < kLong) end = clock_nanoseconds();
    const auto ticks = static_cast<double>(__rdtsc() - first);
    const double speed = static_cast<double>(end - begin) / ticks;
    return speed == 1.0 ? 1.0000001 : speed;
#else
    return 1;
#endif
  }
};

}  // namespace chasqui::bsp::detail
