// SPDX-License-Identifier: MIT
// Two measurements of one machine compared: do the intervals of every parameter meet?
#pragma once

#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"

namespace chasqui::measure {
/// One parameter, measured twice.
struct Comparison {
  std::string name;      ///< "node L", "bsp g"
  Estimate before, now;  ///< value and interval of a measurement
  bool agrees() const { return before.low <= now.high && now.low <= before.high; }  ///< do the intervals meet?
};

/// "41 (38 .. 45)"; "at most 3", where the value itself was cut at 0; "0 (too small to resolve)". At most 28 columns.
std::string to_text(const Estimate& estimate);

/// The measured parameters for people, 80 columns wide. A level of which nothing was measured is left out.
std::string to_table(const Profile& profile);

/// Throws an Error if the profile is not of so many threads, or processes: to be asked before measuring again.
void check_comparable(const Profile& before, std::int64_t ranks, bool threads);

/// Every parameter that both profiles have. A level of which nothing was measured is left out. Throws an
/// Error if the profiles are of different numbers of ranks, or one of threads and the other of processes.
std::vector<Comparison> compare(const Profile& before, const Profile& now);

/// A table for people, 80 columns wide, with the verdict in its last line.
std::string to_text(const std::vector<Comparison>& comparisons);

bool all_agree(const std::vector<Comparison>& comparisons);  ///< every one of them

}  // namespace chasqui::measure
