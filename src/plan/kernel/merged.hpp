// SPDX-License-Identifier: MIT
// Kernels beyond the table without search: merged from the special kernels of L consecutive levels that are shipped
// (data/kernel_bases.txt). docs/kernels.md, "Merging".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/kernel/kernel.hpp"
#include "plan/kernel/table.hpp"

namespace chasqui::plan::kernel {

/// The shipped special kernels, sorted by (L, P). Parsed once.
const std::vector<TableLine>& shipped_bases();

inline constexpr std::int64_t kMergedReceivers = 100'000;  ///< merged_kernel gives nothing beyond

/// A special kernel on M receivers, from the bases; nothing where they do not reach.
/// Time: O(levels * M^2 / 64) to see what is reached and O(kappa M) to put it together.
std::optional<Kernel> merged_kernel(std::int64_t M, std::int64_t L);

}  // namespace chasqui::plan::kernel
