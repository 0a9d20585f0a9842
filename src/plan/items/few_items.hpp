// SPDX-License-Identifier: MIT
// k <= k* items, for every P and L, without search: every item gets a set of the source's trees that together reach all
// receivers, and the last L steps are arranged by edge colouring. docs/items.md, Theorem 11.
#pragma once

#include <optional>
#include <vector>

#include "plan/kernel/counting.hpp"
#include "plan/kernel/endgame.hpp"

namespace chasqui::plan::kernel {

/// The messages of a broadcast of k items to M receivers whose last step is last_step(counting, k), in order of
/// (step, sender), the source first. Time: O(kM log). REQUIRES 1 <= k <= k_star.
std::optional<std::vector<StepSend>> few_items(const Counting& counting, std::int64_t k);

}  // namespace chasqui::plan::kernel
