// SPDX-License-Identifier: MIT
#include "plan/items/few_items.hpp"

#include <algorithm>
#include <limits>

#include "chasqui/base/error.hpp"
#include "chasqui/base/random.hpp"

namespace chasqui::plan::kernel {
namespace {

/// `copies` matchings in which row r is joined to column[r].
struct Matching {
  std::vector<int> column;
  std::int64_t copies = 0;
};

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

/// König's theorem for a bipartite multigraph of edges[row][column] edges whose rows all have degree d and whose columns
/// have at most d: its edges split into d matchings that cover every row. Equal matchings are found together, so the cost
/// does not grow with d: at most rows * columns + columns different ones.
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

/// The early part: who receives which item when, all fresh; and who can send it later.
struct Spread {
  std::vector<StepSend> sends;
  std::vector<std::vector<int>> holders;  ///< by item: receivers, in order of time
  std::vector<std::vector<int>> since;    ///< their steps
};

Spread spread(const std::vector<int>& colour, std::int64_t k, int last, int L) {
  Spread out;
  out.holders.resize(at(k));
  out.since.resize(at(k));
  int fresh = 0;
  for (int tau = 0; tau <= last - L; ++tau) {
    auto send = [&](int from, int item) {
      out.holders[at(item)].push_back(fresh);
      out.since[at(item)].push_back(tau);
      out.sends.push_back({tau, from, fresh++, item});
    };
    send(kNone, colour[at(tau)]);
    for (int item = 0; item < static_cast<int>(k); ++item) {
      const std::size_t before = out.holders[at(item)].size();
      for (std::size_t i = 0; i < before && out.since[at(item)][i] <= tau - L; ++i)
        send(out.holders[at(item)][i], item);
    }
  }
  return out;
}

/// colour[i]: which item the source sends at step i, so that the trees of every item hold M receivers or more in all: the
/// largest tree goes where most is missing. Nothing if that and a few random orders fail (not seen for L <= 14).
std::optional<std::vector<int>> share_trees(const Counting& c, std::int64_t k) {
  const std::int64_t last = last_step(c, k);
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Random random(static_cast<std::uint64_t>(attempt));
    std::vector<std::int64_t> missing(at(k), c.M);
    std::vector<int> colour;
    for (std::int64_t i = 0; i <= last; ++i) {
      auto most = std::max_element(missing.begin(), missing.end());
      if (attempt > 0 && random.below(4) == 0) {
        const auto other = missing.begin() + random.below(static_cast<int>(k));
        if (*other >= c.f(last - i)) most = other;
      }
      *most -= c.f(last - i);
      colour.push_back(static_cast<int>(most - missing.begin()));
    }
    if (std::all_of(missing.begin(), missing.end(), [](std::int64_t m) { return m <= 0; })) return colour;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<StepSend>> few_items(const Counting& c, std::int64_t k) {
  CHASQUI_CHECK(k >= 1 && k <= c.k_star && c.M <= std::numeric_limits<int>::max(), "k={} k*={}", k, c.k_star);
  const int last = static_cast<int>(last_step(c, k));
  const int L = static_cast<int>(c.L);
  const auto colour = share_trees(c, k);
  if (!colour) return std::nullopt;
  Spread early = spread(*colour, k, last, L);

  // multiplicity[item][step - first]: how many receive it then; one more column for what came early.
  const int first = std::max(0, last - L + 1);
  const int late = last - first + 1;
  std::vector<std::vector<std::int64_t>> multiplicity(at(k), std::vector<std::int64_t>(at(late) + 1, 0));
  for (int item = 0; item < static_cast<int>(k); ++item) {
    std::int64_t left = c.M - static_cast<std::int64_t>(early.holders[at(item)].size());
    multiplicity[at(item)][at(late)] = c.M - left;
    for (int step = first; step <= last; ++step) {
      std::int64_t able = (*colour)[at(step)] == item ? 1 : 0;
      able += std::upper_bound(early.since[at(item)].begin(), early.since[at(item)].end(), step - L) -
              early.since[at(item)].begin();
      const std::int64_t used = std::min(able, left);
      multiplicity[at(item)][at(step - first)] = used;
      left -= used;
    }
    CHASQUI_CHECK(left == 0, "item {} lacks {}", item, left);
  }

  std::vector<StepSend> sends = std::move(early.sends);
  std::vector<std::size_t> next_early(at(k), 0);
  int next_fresh = static_cast<int>(sends.size());
  std::vector<std::vector<std::size_t>> used(at(k), std::vector<std::size_t>(at(late), 0));
  for (const Matching& matching : colour_edges(std::move(multiplicity), c.M)) {
    for (std::int64_t copy = 0; copy < matching.copies; ++copy) {
      // The rank: one that got its early item as the matching says, or one that got nothing early.
      int rank = -1;
      for (int item = 0; item < static_cast<int>(k); ++item) {
        if (matching.column[at(item)] == late) rank = early.holders[at(item)][next_early[at(item)]++];
      }
      if (rank < 0) rank = next_fresh++;
      for (int item = 0; item < static_cast<int>(k); ++item) {
        const int column = matching.column[at(item)];
        if (column == late) continue;
        const int step = first + column;
        std::size_t sender = used[at(item)][at(column)]++;
        const bool by_source = (*colour)[at(step)] == item;
        const int from = by_source && sender == 0 ? kNone : early.holders[at(item)][sender - (by_source ? 1 : 0)];
        sends.push_back({step, from, rank, item});
      }
    }
  }
  std::sort(sends.begin(), sends.end(),
            [](const StepSend& a, const StepSend& b) { return a.tau != b.tau ? a.tau < b.tau : a.from < b.from; });
  return sends;
}

}  // namespace chasqui::plan::kernel
