// SPDX-License-Identifier: MIT
// What one rank does: the schedule restricted to the messages and computations of that rank.
// Runtimes and the simulator need only this; nobody materialises a schedule for a million ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {
/// What one rank does, each list by time.
struct LocalForm {
  Rank rank;
  std::vector<Send> sends;     ///< from this rank, by begin
  std::vector<Send> receives;  ///< to this rank, by begin
  std::vector<Add> adds;       ///< sum: this rank's computations, by begin
  std::int64_t operands = 0;   ///< sum: how many operands it holds

  friend bool operator==(const LocalForm&, const LocalForm&) = default;
};

/// The part of `rank` in a materialised schedule. Time: O(sends).
LocalForm restrict_to(const Schedule& schedule, Rank rank);

}  // namespace chasqui
