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

/// Of the receivers first .. last of one level, how many the bases reach by merging, or are bases themselves.
struct MergedLevel {
  std::int64_t level = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t bases = 0;
  std::int64_t reached = 0;  ///< bases included
};

/// The levels of latency L from the first with a base up to `most` receivers; empty without bases.
std::vector<MergedLevel> merged_coverage(std::int64_t L, std::int64_t most);

}  // namespace chasqui::plan::kernel
