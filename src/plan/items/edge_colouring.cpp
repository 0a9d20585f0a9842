// SPDX-License-Identifier: MIT
#include "plan/items/edge_colouring.hpp"

#include <algorithm>
#include <cstddef>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::kernel {
namespace {

/// A matching that covers all rows and all columns of full degree: Kuhn's algorithm from the full columns first, then
/// from the rows; augmenting from rows never uncovers a column.
class Cover {
 public:
  Cover(const std::vector<std::vector<std::int64_t>>& edges, std::size_t columns)
      : edges_(edges), column_of_(edges.size(), -1), row_of_(columns, -1) {}

  bool add_column(std::size_t column) {
    seen_.assign(edges_.size(), 0);
    return from_column(column);
  }

  bool add_row(std::size_t row) {
    if (column_of_[row] >= 0) return true;
    seen_.assign(row_of_.size(), 0);
    return from_row(row);
  }

  const std::vector<int>& column_of() const { return column_of_; }

 private:
  bool from_column(std::size_t column) {
    for (std::size_t row = 0; row < edges_.size(); ++row) {
      if (edges_[row][column] == 0 || seen_[row] != 0) continue;
      seen_[row] = 1;
      if (column_of_[row] < 0 || from_column(static_cast<std::size_t>(column_of_[row]))) return join(row, column);
    }
    return false;
  }

  bool from_row(std::size_t row) {
    for (std::size_t column = 0; column < row_of_.size(); ++column) {
      if (edges_[row][column] == 0 || seen_[column] != 0) continue;
      seen_[column] = 1;
      if (row_of_[column] < 0 || from_row(static_cast<std::size_t>(row_of_[column]))) return join(row, column);
    }
    return false;
  }

  bool join(std::size_t row, std::size_t column) {
    column_of_[row] = static_cast<int>(column);
    row_of_[column] = static_cast<int>(row);
    return true;
  }

  const std::vector<std::vector<std::int64_t>>& edges_;
  std::vector<int> column_of_;
  std::vector<int> row_of_;
  std::vector<char> seen_;
};

}  // namespace

std::vector<Matching> colour_edges(std::vector<std::vector<std::int64_t>> edges, std::int64_t degree) {
  std::vector<Matching> matchings;
  const std::size_t columns = edges.empty() ? 0 : edges[0].size();
  std::vector<std::int64_t> column_degree(columns, 0);
  for (const auto& row : edges) {
    for (std::size_t c = 0; c < columns; ++c) column_degree[c] += row[c];
  }
  while (degree > 0) {
    Cover cover(edges, columns);
    for (std::size_t c = 0; c < columns; ++c) {
      if (column_degree[c] == degree) CHASQUI_CHECK(cover.add_column(c), "column {} of degree {}", c, degree);
    }
    for (std::size_t r = 0; r < edges.size(); ++r) {
      CHASQUI_CHECK(cover.add_row(r), "row {} of degree {}", r, degree);
    }
    Matching matching{cover.column_of(), degree};
    std::vector<char> covered(columns, 0);
    for (std::size_t r = 0; r < edges.size(); ++r) {
      const auto c = static_cast<std::size_t>(matching.column[r]);
      covered[c] = 1;
      matching.copies = std::min(matching.copies, edges[r][c]);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      if (covered[c] == 0) matching.copies = std::min(matching.copies, degree - column_degree[c]);
    }
    for (std::size_t r = 0; r < edges.size(); ++r) {
      const auto c = static_cast<std::size_t>(matching.column[r]);
      edges[r][c] -= matching.copies;
      column_degree[c] -= matching.copies;
    }
    degree -= matching.copies;
    matchings.push_back(std::move(matching));
  }
  return matchings;
}

}  // namespace chasqui::plan::kernel
