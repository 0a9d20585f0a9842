// SPDX-License-Identifier: MIT
// What each rank of a board says of itself in numbers, and what a rank remembers of those of the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/board/shape.hpp"

namespace chasqui::run {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "counters are shared between processes");

inline constexpr std::size_t kRefusals =
    2 * kSlotRing;  ///< with a collective between each two: more than a rank can be ahead

/// Calls first .. last.
struct CallRange {
  std::atomic<std::uint64_t> first;  ///< 0: none
  std::atomic<std::uint64_t> last;
};

/// Of one rank, in the memory of the board, zeroed at first.
struct alignas(2 * kLine) Counters {
  std::atomic<std::uint64_t> done;  ///< the last collective that it has finished
  // Of stages: the round after the last one that it has …
  alignas(kLine) std::atomic<std::uint64_t> posted;    ///< … put into its stage
  alignas(kLine) std::atomic<std::uint64_t> result;    ///< … folded its share of
  alignas(kLine) std::atomic<std::uint64_t> consumed;  ///< … read all of that it needs
  // A pair of lines of its own: it is written often, and whoever reads its neighbour would fetch it too.
  alignas(2 * kLine) std::atomic<std::uint64_t> inside;  ///< the collective in which it uses the memory of others now
  alignas(2 * kLine) CallRange refused[kRefusals];       ///< the numbers of its refusals: what came in a row is one
  std::atomic<std::uint64_t> ended;                      ///< as Departures writes it
  std::atomic<std::uint64_t> core;                       ///< where it runs, plus 1; 0: nobody knows. A hint
};

/// How far all others have come, by one of their counters.
class Reached {
 public:
  using Which = std::atomic<std::uint64_t> Counters::*;
  Reached() = default;
  Reached(const Counters* counters, Which which, int ranks, int rank)
      : counters_(counters), which_(which), at_(static_cast<std::size_t>(ranks)) {
    at_[static_cast<std::size_t>(rank)] = ~std::uint64_t{0} / 4;  // whoever waits waits for others
  }

  /// This rank knows by something else that `rank` has come so far.
  void note(int rank, std::uint64_t there) {
    std::uint64_t& at = at_[static_cast<std::size_t>(rank)];
    at = std::max(at, there);
  }
  /// What all others have reached at least. A counter that was seen at what is needed is not looked at again, and while one is
  /// below it only that one is: who waits for the last rank leaves the lines of all others alone.
  std::uint64_t refreshed(std::uint64_t needed);

 private:
  const Counters* counters_ = nullptr;
  Which which_ = nullptr;
  std::vector<std::uint64_t> at_;  ///< by rank
  int behind_ = 0;                 ///< who was found below what was needed
};

}  // namespace chasqui::run
