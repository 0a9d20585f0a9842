// SPDX-License-Identifier: MIT
// All-gather on a ring of m classes when m does not divide P: the ranks left over move between the classes as their
// overheads allow, and every slot is matched on its own, the neediest receiver first. For few ranks only: the result is
// a list of messages, not a formula.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// The messages by begin, when all begin before `unless_by`; nothing otherwise. Ranks m*floor(P/m) .. P-1 are left over.
/// Each message is checked against rules 1 to 6 before it is taken. Time: O(slots * m * P^2 * items).
std::optional<std::vector<Send>> matched_ring(const LogP& machine, std::int64_t items, std::int64_t period,
                                              const std::vector<std::int64_t>& offset, std::int64_t unless_by);

inline constexpr std::int64_t kMostMatched = 32;  ///< items in all that a matched ring is tried for

}  // namespace chasqui::plan
