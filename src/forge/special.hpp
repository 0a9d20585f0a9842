// SPDX-License-Identifier: MIT
// Special kernels, which can be merged: from one of level D-1 and one of level D-L follows one of level D, without search.
// docs/kernels.md, "Merging".
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

/// The colour of item a of the window, for every level: min(a, kappa-1) for a <= L-2, then whatever keeps the colours'
/// shares equal, items weighted by the growth of the universal tree. Time: O(kappa * length).
std::vector<std::int8_t> tree_colours(int L, int kappa, int length);

/// Groups of a special kernel in order: the receive-only rank, the root group, the others.
inline constexpr std::size_t kRootGroup = 1;

/// Whether a kernel on M receivers can be special: 1 <= kappa < L, and slack for the root group.
bool may_be_special(const Counting& counting);

/// The processors, from .. to, of the L lowest consecutive levels, and `more`, at which the tree has leaves enough for
/// the root group.
std::pair<int, int> base_processors(int L, int more = 0);

/// A special kernel whose others are one group or two. Nothing after `attempts` trees proves nothing.
std::optional<Kernel> search_special(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed);

/// The special kernel on a.M + b.M receivers. REQUIRES special kernels of one L and kappa, a's level L-1 above b's.
Kernel merge(const Kernel& a, const Kernel& b);

}  // namespace chasqui::plan::kernel
