// SPDX-License-Identifier: MIT
// Streams for L = 1, where delay 1 + ⌈log2(P-1)⌉ is always possible (streams.md, Theorem 11), and for L = 2. There delay
// 2 + t, t = B(n), is possible exactly when 2(f_t - n) >= f_{t-2} - (t-1); one step more always is (streams.md,
// Theorem 12). n = 5 and n = 8 reach the bound with tables of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

/// At the bound for L = 1. Co-letters are 0 and -1 only: blocks that lost a child take -1, the others 0. With p_r nodes of potential
/// r that lost a child the books balance when the s missing nodes are ε + Σ (r-1) p_r with ε in {0, 1}:
/// greedy from the largest potential works because the weights form a complete sequence. REQUIRES n >= 2.
Recipe latency_one(std::int64_t n);

/// The criterion; n = 1, where the tree is a single node, always reaches the bound.
bool two_reaches_bound(std::int64_t n);

/// A recipe whose items complete t steps after they reach the root of their tree, or nothing.
/// REQUIRES n >= 2, t = B(n) or B(n) + 1.
std::optional<Recipe> latency_two(std::int64_t n, std::int64_t t);

/// The tree on n nodes cut out of the full tree of height t from its end: internal nodes of the least potential lose
/// all their children and become leaves, the last one some. REQUIRES n <= f_t. Nothing if the root would go.
std::optional<Heads> cut_heads(const Growth& f, std::int64_t t, std::int64_t n);

/// The strong base cases (K = 0) of the composition: all n in [low, high] at height t. Sums of two neighbours give the
/// next height: low_t = f_{t-2}, high_t >= 2 f_{t-2}, which is all that heights B(n) and B(n)+1 ask for.
struct TwoBase {
  std::int64_t t, low, high;
};
inline constexpr TwoBase kTwoBases[] = {{10, 34, 69}, {11, 55, 112}};

}  // namespace chasqui::plan::stream_detail
