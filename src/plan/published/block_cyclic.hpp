// SPDX-License-Identifier: MIT
// The two block-cyclic constructions of SPAA 3.2 and 3.3, for P-1 = f_t only.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/stream/recipe.hpp"

namespace chasqui::plan::stream_detail {

/// SPAA 3.3: the receive-only rank has the letter b throughout; L consecutive base cases, then I(t) = I(t-1) ⊎ I(t-L)
/// with the largest block grown by a letter b. Below the base cases any letter will do. REQUIRES L >= 3, n = f_t.
std::optional<Recipe> block_cyclic(std::int64_t L, std::int64_t n);

/// The first t from which on L consecutive base cases have a solution with b, or nothing below `limit`.
std::optional<std::int64_t> block_cyclic_base(std::int64_t L, std::int64_t limit);

/// SPAA Theorem 3.5, L = 2, n = f_t: in the tree of height t+1 all nodes with four or more children lose
/// their two leaves, some with three do, and some with one or two lose the later leaf. The fractions are
/// searched. Nothing if none fit.
std::optional<Recipe> pruned_two(std::int64_t n);

}  // namespace chasqui::plan::stream_detail
