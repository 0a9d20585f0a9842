// SPDX-License-Identifier: MIT
// Tables of kernels, one line "P L kernel" each: the one that is shipped, data/kernels.txt, with every P and every L >= 2
// up to a limit (L = 1 has a closed form), and a user's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chasqui/plan/kernels.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

struct TableLine {
  int P = 0;
  int L = 0;
  std::string_view text;
};

/// Several texts, one after another, as they are generated from a file in data/.
std::vector<TableLine> parse_chunks(const char* const* chunks, unsigned count, std::string_view place);

/// The lines of a table, in the order of the text. Throws an Error naming `place` and line for what is no table.
std::vector<TableLine> parse_table(std::string_view text, std::string_view place);

/// The shipped table, sorted by (L, P). Parsed once, in a fraction of a millisecond.
const std::vector<TableLine>& shipped_table();

/// The shipped kernel for M receivers. Time: a binary search and O(kappa M), microseconds.
std::optional<Kernel> from_table(std::int64_t M, std::int64_t L);

}  // namespace chasqui::plan::kernel

namespace chasqui::plan {

class KernelTable {
 public:
  /// Throws an Error if the file cannot be read or is no table.
  explicit KernelTable(const std::string& path);

  /// The kernel for M receivers, all conditions checked. Throws an Error if the line breaks one.
  std::optional<kernel::Kernel> find(std::int64_t M, std::int64_t L) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<kernel::TableLine> lines_;  ///< sorted by (L, P)
};

}  // namespace chasqui::plan
