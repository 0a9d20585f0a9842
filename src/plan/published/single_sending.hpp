// SPDX-License-Identifier: MIT
// The reception patterns inside a block of the single-sending schedule (SPAA 3.4).
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::plan::stream_detail {

/// offsets[i-1][j-1]: when processor j of a block of r >= 4 receives, as an inactive item, an item that is i
/// modulo r (1..r), counted from the first of the r-1 steps in which the block receives it; -1 for j = i, who
/// has it. At each step the processors that receive something, the active item included, are all different.
/// Cases (a) to (d) with the constants of (d) put right: printed, they are `printed_L` and `printed_L - 1`
/// and only fit r = L+2 (odd) or r = L+3 (even). printed_L = 0 takes the right ones.
std::vector<std::vector<std::int64_t>> reception_pattern(std::int64_t r, std::int64_t printed_L = 0);

}  // namespace chasqui::plan::stream_detail
