// SPDX-License-Identifier: MIT
// Special kernels can be merged: from one of level D-1 and one of level D-L follows one of level D, without search and
// in integers only. So kernels beyond the table come from those of L consecutive levels that are shipped
// (data/kernel_bases.txt). docs/items.md, Theorem 8.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/kernel/kernel.hpp"
#include "plan/kernel/table.hpp"

namespace chasqui::plan::kernel {

/// The colour of item a of the window, for every level: min(a, kappa-1) for a <= L-2, then the colour with the least
/// share so far, where item a counts as f_{N-a}, N large; among equal shares the highest colour. A longer list begins
/// with the shorter one. Time: O(kappa * length).
std::vector<std::int8_t> tree_colours(int L, int kappa, int length);

/// Whether a kernel on M receivers can be special: 1 <= kappa < L, and slack for the root group.
bool may_be_special(const Counting& counting);

/// Groups of a special kernel in order: the receive-only rank, the root group, the others.
inline constexpr std::size_t kRootGroup = 1;

/// Ranks of the root group at level D.
inline int root_group_size(int L, int D) { return D - L + 1; }

/// A special kernel without its others: the receive-only rank and the root group, with their colours.
Kernel special_frame(int M, int L, int D, int kappa);

/// The special kernel on a.M + b.M receivers. REQUIRES special kernels of one L and kappa, a's level L-1 above b's.
Kernel merge(const Kernel& a, const Kernel& b);

/// The shipped special kernels, sorted by (L, P). Parsed once.
const std::vector<TableLine>& shipped_bases();

inline constexpr std::int64_t kMergedReceivers = 100'000;  ///< merged_kernel gives nothing beyond

/// A special kernel on M receivers, from the bases; nothing where they do not reach.
/// Time: O(levels * M^2 / 64) to see what is reached and O(kappa M) to put it together.
std::optional<Kernel> merged_kernel(std::int64_t M, std::int64_t L);

}  // namespace chasqui::plan::kernel
