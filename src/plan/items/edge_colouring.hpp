// SPDX-License-Identifier: MIT
// König's theorem for a bipartite multigraph whose rows all have degree d and whose columns have at most d: its edges
// split into d matchings that cover every row. Equal matchings are found together, so the cost does not grow with d.
#pragma once

#include <cstdint>
#include <vector>

namespace chasqui::plan::kernel {

/// `copies` matchings in which row r is joined to column[r].
struct Matching {
  std::vector<int> column;
  std::int64_t copies = 0;
};

/// multiplicity[row][column] edges. At most rows * columns + columns different matchings.
/// REQUIRES every row to sum to `degree` and every column to at most `degree`.
std::vector<Matching> colour_edges(std::vector<std::vector<std::int64_t>> multiplicity, std::int64_t degree);

}  // namespace chasqui::plan::kernel
