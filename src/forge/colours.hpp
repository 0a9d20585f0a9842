// SPDX-License-Identifier: MIT
// The endgame: which of the last kappa items ("colours") every free reception of the window gets.
// Early receptions (those that can still be passed on) by a greedy choice, late ones by annealing.
#pragma once

#include <cstdint>

#include "chasqui/base/random.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

/// Fills kernel.colours so that (E1) and (E2) hold: each role gets every colour once and every step can be matched.
/// False after `iterations` moves without success, which proves nothing. REQUIRES the steady conditions.
bool colour_endgame(Kernel& kernel, std::int64_t iterations, Random& random);

}  // namespace chasqui::forge
