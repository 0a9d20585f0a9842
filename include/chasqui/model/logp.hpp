// SPDX-License-Identifier: MIT
// The LogP machine (Culler et al.), in integer ticks. The postal machine is o = 0, g = 1.
// docs/model.md has the numbered rules of a legal schedule on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "chasqui/model/units.hpp"

namespace chasqui {
/// The machine of all plans: processors, latency, overhead and gap, in ticks.
struct LogP {
  std::int64_t P = 1;  ///< processors
  Time L{1};           ///< latency of a message in the network
  Time o{0};           ///< overhead: paid by the sender, and again by the receiver
  Time g{1};           ///< gap between two sends, and between two receptions, of one processor

  /// What a send begun at t needs until its item is available at t + lambda().
  constexpr Time lambda() const { return L + o + o; }
  /// The effective gap: two sends cannot begin closer than the overhead either.
  constexpr Time gap() const { return std::max(g, o); }
  /// No overhead and a gap of one tick: a tick is a step.
  constexpr bool is_postal() const { return o == Time{0} && g == Time{1}; }

  /// The postal machine of P processors and latency L.
  static constexpr LogP postal(std::int64_t P, Time L) { return {P, L, Time{0}, Time{1}}; }

  friend constexpr bool operator==(const LogP&, const LogP&) = default;
};

inline constexpr std::int64_t kMaxProcessors = 2'147'483'647;         ///< a Rank is 32 bits
inline constexpr std::int64_t kMaxParameter = 1'000'000'000'000'000;  ///< 10^15 ticks

/// Throws an Error that names the first parameter out of range, its value and the range.
/// L + 2o = 0 is rejected too: messages that take no time make "before" and "after" meaningless.
void validate(const LogP& machine);

/// "P=8 L=6 o=2 g=4"
std::string to_string(const LogP& machine);

}  // namespace chasqui
