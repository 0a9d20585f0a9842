// SPDX-License-Identifier: MIT
// Finds a kernel with its endgame, as one circulant group: random trees (j = 0 and j = 1), arranged on a circle, then
// coloured. Seeded and counted in attempts, never in seconds: the same call gives the same kernel everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

/// Nothing after `attempts` trees proves nothing. Time: typically 10 ms for M = 100. REQUIRES M >= 1, L >= 1.
std::optional<Kernel> search(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed);

}  // namespace chasqui::plan::kernel
