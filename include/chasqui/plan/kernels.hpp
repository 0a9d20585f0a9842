// SPDX-License-Identifier: MIT
// The kernels that k-item broadcasts are made of (docs/items.md): a user's own table beside the shipped one, and how
// far merging reaches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace chasqui::plan {

class KernelTable;                                          ///< kernels that are not shipped, by P and L
using KernelTablePtr = std::shared_ptr<const KernelTable>;  ///< tables are shared, never changed

/// A file that `chasqui kernels build` made. Throws an Error if it cannot be read or is no table; a kernel is checked
/// when it is used.
KernelTablePtr read_kernel_table(const std::string& path);

/// Of the receivers first .. last of one level, how many the shipped bases reach by merging, or are bases themselves.
struct MergedLevel {
  std::int64_t level = 0;    ///< steps that one item needs for so many receivers
  std::int64_t first = 0;    ///< fewest receivers
  std::int64_t last = 0;     ///< most receivers
  std::int64_t bases = 0;    ///< shipped kernels that can be merged
  std::int64_t reached = 0;  ///< bases included
};

/// The levels of latency L from the first with a base up to `most` receivers; empty without bases.
std::vector<MergedLevel> merged_coverage(std::int64_t L, std::int64_t most);

}  // namespace chasqui::plan
