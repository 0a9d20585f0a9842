// SPDX-License-Identifier: MIT
// Finds a kernel with its endgame, as one circulant group: random trees (j = 0 and j = 1), arranged on a circle, then
// coloured. Seeded and counted in attempts, never in seconds: the same call gives the same kernel everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/kernel/kernel.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

inline constexpr std::int64_t kNoLimit = std::int64_t{1} << 62;

/// Nothing after `attempts` trees, or when the next part of the search might make more than `moves` moves of annealing in
/// all, proves nothing. Time: typically 10 ms for M = 100; about 20 million moves a second. REQUIRES M >= 1, L >= 1.
std::optional<Kernel> search(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed,
                             std::int64_t moves = kNoLimit);

}  // namespace chasqui::forge
