// SPDX-License-Identifier: MIT
// Makes a table of kernels: one unit of work per (P, L), on several threads, resumable: lines that are there stay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace chasqui::forge {

/// Which kernels, how long, and where to.
struct BuildOptions {
  std::string path;                ///< the file
  int max_P = 128;                 ///< processors, up to
  int max_L = 16;                  ///< latency, up to
  int threads = 1;                 ///< that search
  std::int64_t attempts = 10'000;  ///< trees per (P, L)
  std::uint64_t seed = 1;          ///< the same seed makes the same table
  bool bases = false;              ///< special kernels of the levels that merging starts from; max_P does not count
  int more_levels = 0;             ///< bases: levels above the L lowest, where a family starts late
  bool resume = false;             ///< otherwise an existing file is an error
};

/// How many kernels of which kind.
struct BuildResult {
  std::int64_t present = 0;  ///< lines that were there
  std::int64_t found = 0;    ///< and added
  std::int64_t missing = 0;  ///< not found within the attempts
};

/// Every kernel is checked before it is written; the file is rewritten sorted at the end, and lines are appended as
/// they are found. Throws an Error for a file that cannot be read or written. `progress` is called under a lock.
BuildResult build_table(const BuildOptions& options, const std::function<void(int P, int L, bool found)>& progress);

}  // namespace chasqui::forge
