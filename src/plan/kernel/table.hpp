// SPDX-License-Identifier: MIT
// The kernels shipped with the library: data/kernels.txt, one line "P L kernel" each, for every P and L up to a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

struct TableLine {
  int P = 0;
  int L = 0;
  std::string_view text;
};

/// The lines of a table, in the order of the text. Throws an Error naming `place` and line for what is no table.
std::vector<TableLine> parse_table(std::string_view text, std::string_view place);

/// The shipped table, sorted by (L, P). Parsed once, in a fraction of a millisecond.
const std::vector<TableLine>& shipped_table();

/// The shipped kernel for M receivers. Time: a binary search and O(kappa M), microseconds.
std::optional<Kernel> from_table(std::int64_t M, std::int64_t L);

/// A user's own table: a file that `chasqui kernels build` made.
class UserTable {
 public:
  /// Throws an Error if the file cannot be read or is no table.
  explicit UserTable(const std::string& path);

  /// The file named by CHASQUI_KERNELS, read once, or an empty table.
  static const UserTable& from_environment();

  /// The kernel for M receivers, all conditions checked. Throws an Error if the line breaks one.
  std::optional<Kernel> find(std::int64_t M, std::int64_t L) const;

 private:
  UserTable() = default;

  std::string path_;
  std::string text_;
  std::vector<TableLine> lines_;  ///< sorted by (L, P)
};

}  // namespace chasqui::plan::kernel
