// SPDX-License-Identifier: MIT
// The small types everything speaks in. They do not mix: a Rank is no Time.
#pragma once

#include <compare>
#include <cstdint>

namespace chasqui {

/// An instant or a duration, in integer ticks. The machine says what a tick is (a cycle, a nanosecond, a step).
struct Time {
  std::int64_t ticks = 0;

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time a, Time b) { return {a.ticks + b.ticks}; }    ///< time adds up
  friend constexpr Time operator-(Time a, Time b) { return {a.ticks - b.ticks}; }    ///< a span, or an earlier time
  friend constexpr Time operator*(std::int64_t n, Time a) { return {n * a.ticks}; }  ///< n times as long
  friend constexpr Time operator*(Time a, std::int64_t n) { return {n * a.ticks}; }  ///< n times as long
  constexpr Time& operator+=(Time b) { return ticks += b.ticks, *this; }             ///< later by b
  constexpr Time& operator-=(Time b) { return ticks -= b.ticks, *this; }             ///< earlier by b
};

/// A processor, 0 .. P-1.
struct Rank {
  std::int32_t index = 0;  ///< 0 .. P-1

  friend constexpr auto operator<=>(Rank, Rank) = default;
};

/// One of the things a broadcast moves, 0 .. k-1 (or without end, in a stream).
struct Item {
  std::int64_t index = 0;  ///< 0 .. k-1

  friend constexpr auto operator<=>(Item, Item) = default;
};

}  // namespace chasqui
