// SPDX-License-Identifier: MIT
// LogGP (Alexandrov and others): a LogP machine whose messages have a size; every byte after the first takes G more.
// G is a ratio of integers, because a tick is often longer than a byte takes.
#pragma once

#include <cstdint>
#include <string>

#include "chasqui/model/logp.hpp"

namespace chasqui {
/// LogP with long messages. Source: docs/model.md.
struct LogGP {
  LogP base;                 ///< one-byte messages
  std::int64_t G_ticks = 0;  ///< G = G_ticks / G_bytes ticks per byte
  std::int64_t G_bytes = 1;  ///< denominator of the gap per byte

  friend constexpr bool operator==(const LogGP&, const LogGP&) = default;
};

inline constexpr std::int64_t kMaxBytes = 1'000'000'000'000;  ///< 10^12

/// Throws an Error naming what is out of range.
void validate(const LogGP& machine);

/// The LogP machine on which a message of `bytes` is one message: L grows by ceil((bytes-1) G), and so does the gap,
/// because the next message waits for the last byte. Throws an Error if that does not fit. REQUIRES bytes >= 1.
LogP segment_machine(const LogGP& machine, std::int64_t bytes);

/// "P=8 L=6 o=2 g=4 G=1/8"
std::string to_string(const LogGP& machine);

}  // namespace chasqui
