// SPDX-License-Identifier: MIT
// The clock that every room reads: this host's monotonic one.
#pragma once

#include <time.h>

#include <cstdint>

namespace chasqui {

/// Nanoseconds since some moment that all processes of this host share. May be called in a signal handler.
inline std::int64_t clock_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// The same as a double, for arithmetic with measured times.
inline double clock_now() { return static_cast<double>(clock_nanoseconds()); }

}  // namespace chasqui
