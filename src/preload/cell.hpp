// SPDX-License-Identifier: MIT
// One collective of one size class on one communicator: who serves it, and what was seen. The comparison with the
// MPI library's own is a fixed number of calls that alternate, then one agreement of all ranks: bounded, and the same
// on every rank because it depends on the number of calls only.
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

struct Cell {
  Verdict verdict = Verdict::open;
  bool asked = false;  ///< the profile was asked
  std::uint32_t compared = 0;
  std::vector<double> ours_seen, native_seen;  ///< nanoseconds, during the comparison only

  std::uint64_t ours_calls = 0, native_calls = 0;
  double ours_time = 0, native_time = 0;  ///< nanoseconds of calls that were timed
  std::uint64_t ours_timed = 0, native_timed = 0;
  double ours_typical = 0, native_typical = 0;  ///< agreed by all ranks; 0: not compared
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

}  // namespace chasqui::preload
