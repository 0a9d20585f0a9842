// SPDX-License-Identifier: MIT
// One collective of one size class on one communicator: who serves it, and what was seen. The comparison with the
// MPI library's own is a fixed number of calls that alternate, then one agreement of all ranks: bounded, and the same
// on every rank because it depends on the number of calls and on agreed times only. It is repeated ever more rarely.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chasqui::preload {

inline constexpr int kClasses = 16;  ///< a factor of four each

inline int class_of_size(std::size_t bytes) {
  return std::min(kClasses - 1, bytes == 0 ? 0 : static_cast<int>(std::bit_width(bytes) / 2));
}

enum class Verdict : std::uint8_t { open, ours, native };

struct Race {
  Verdict verdict = Verdict::open;
  bool asked = false;  ///< the profile was asked
  std::uint32_t compared = 0;
  std::vector<double> ours_seen, native_seen;  ///< nanoseconds, during a comparison only
  std::uint64_t settled = 0;                   ///< calls since the verdict
  std::uint64_t again = 0;                     ///< calls after which it is looked at again; 0: not yet known
  std::uint32_t comparisons = 0;               ///< concluded
  double spent = 0;                            ///< nanoseconds that comparisons cost beyond the faster one

  std::uint64_t ours_calls = 0, native_calls = 0;
  double ours_time = 0, native_time = 0;  ///< nanoseconds of calls that were timed
  std::uint64_t ours_timed = 0, native_timed = 0;
  double ours_typical = 0, native_typical = 0;  ///< agreed by all ranks; 0: not compared
  double saved = 0;                             ///< nanoseconds, by the medians of the comparison before
  double predicted = 0;
  std::string plan;
  std::uint64_t bytes = 0;  ///< of all calls
};

/// The median; 0 of nothing.
inline double typical(std::vector<double> seen) {
  if (seen.empty()) return 0;
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  return *middle;
}

inline constexpr double kShare = 0.01;   ///< of the time since the verdict that looking again may cost
inline constexpr double kMargin = 0.97;  ///< ours must be this much faster to be taken

/// Whose turn it is. The number of comparisons grows with the logarithm of the calls: the pauses grow fourfold.
enum class Turn : std::uint8_t { ours, native, try_ours, try_native };
inline Turn next_turn(Race& race, std::uint32_t trials) {
  if (trials == 0) return Turn::ours;
  if (race.verdict != Verdict::open) {
    if (race.again == 0) race.again = static_cast<std::uint64_t>(trials / kShare);
    if (++race.settled <= race.again) return race.verdict == Verdict::ours ? Turn::ours : Turn::native;
    race.verdict = Verdict::open;
    race.compared = 0;
  }
  return race.compared++ % 2 == 0 ? Turn::try_native : Turn::try_ours;
}

/// A call of a comparison took `nanoseconds`. The first of each kind warms up and is not counted.
inline void saw(Race& race, Turn turn, double nanoseconds, std::uint32_t trials) {
  if (race.compared <= 2 && trials > 1) return;
  (turn == Turn::try_ours ? race.ours_seen : race.native_seen).push_back(nanoseconds);
}

/// Were all calls of the comparison made?
inline bool complete(const Race& race, std::uint32_t trials) {
  return race.verdict == Verdict::open && race.compared >= 2 * trials;
}

/// The verdict on times that all ranks agreed on. The slower one costs `trials` calls next time too: that is put off
/// until it is a hundredth of what the calls in between take.
inline void conclude(Race& race, double ours, double native, std::uint32_t trials) {
  const double better = std::max(1.0, std::min(ours, native));
  const double worse = std::max(better, std::max(ours, native));
  race.ours_typical = ours;
  race.native_typical = native;
  race.verdict = ours < kMargin * native ? Verdict::ours : Verdict::native;
  race.spent += (worse - better) * trials;
  const double rare = std::min(1e18, trials / kShare * (worse / better));
  race.again = std::max(static_cast<std::uint64_t>(rare),
                        race.comparisons == 0 ? 0 : std::min<std::uint64_t>(race.again, 1ull << 60) * 4);
  race.settled = 0;
  ++race.comparisons;
  race.ours_seen = {};
  race.native_seen = {};
}

}  // namespace chasqui::preload
