// SPDX-License-Identifier: MIT
// All-gathers of few ranks, found by matching slot by slot; the result is a list of messages, not a formula.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

inline constexpr std::int64_t kMostMatched = 64;  ///< items in all: a set of items is one word

/// On a ring of m classes where m need not divide P: the ranks m*floor(P/m) .. P-1 move between the classes
/// as their overheads allow. The messages by begin, when all begin before `unless_by`; nothing otherwise.
std::optional<std::vector<Send>> matched_ring(const LogP& machine, std::int64_t items, std::int64_t period,
                                              const std::vector<std::int64_t>& offset, std::int64_t unless_by);

/// Without classes: at every tick a random part of the ranks may send; many short attempts from a fixed seed,
/// each given up when it cannot end in time. Improves until a last send at `good_enough`. For at most 6 items
/// in all and times up to 255 units (the greatest common divisor of L, o and g is the unit); nothing beyond.
std::optional<std::vector<Send>> matched_at_random(const LogP& machine, std::int64_t items, std::int64_t good_enough,
                                                   std::int64_t unless_by);

}  // namespace chasqui::plan
