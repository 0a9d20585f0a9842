// SPDX-License-Identifier: MIT
// Streams at the bound for L = 1, where delay 1 + ⌈log2(P-1)⌉ is always possible (streams.md, Theorem 11).
#pragma once

#include <cstdint>

#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

/// Co-letters are 0 and -1 only: blocks that lost a child take -1, the others 0. With p_r nodes of potential
/// r that lost a child the books balance when the s missing nodes are ε + Σ (r-1) p_r with ε in {0, 1}:
/// greedy from the largest potential works because the weights form a complete sequence. REQUIRES n >= 2.
Recipe latency_one(std::int64_t n);

}  // namespace chasqui::plan::stream_detail
