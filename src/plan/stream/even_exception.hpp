// SPDX-License-Identifier: MIT
// Even L and n = L+3: no plain block-cyclic stream; one block plays both internal nodes (streams.md, Theorem 10).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/stream/layout.hpp"

namespace chasqui::plan::stream_detail {

/// A permutation of 0..2h-1 (or, without the fixed point, of 0..2h-2) with displacements p - π(p) = 1..h, -3,
/// -3, -4..-h and 0 for the fixed point: swapped pairs at distances 3..h and one three-cycle. Depth first up
/// to h = 40, a reduction to a third of the size above. Nothing if the search gives up. REQUIRES h >= 2.
std::optional<std::vector<std::int32_t>> displacement_permutation(std::int64_t h, bool fixed_point);

/// The layout for L even, n = L+3, or nothing. REQUIRES L >= 4.
std::optional<Layout> even_exception(std::int64_t L);

}  // namespace chasqui::plan::stream_detail
