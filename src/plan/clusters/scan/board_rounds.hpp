// SPDX-License-Identifier: MIT
// A scan on the board of one node, in rounds that all ranks begin together: each publishes what it has, then it reads from those w, 2w, ...
// places below, and w becomes `factor` times as much (clusters.md, Theorem 19). So a rank knows its part from its place alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

class BoardRounds {
 public:
  /// On a node of `size` ranks, with the costs of these boards. REQUIRES factor >= 2.
  BoardRounds(const Nodes& boards, std::int64_t size, std::int64_t factor)
      : publish_(boards.publish), read_(boards.read), size_(size), factor_(factor) {}

  /// When all ranks have the fold of those up to them.
  Time time() const;
  /// A rank has no more to do.
  std::int64_t most_events() const;
  /// Adds what the rank at `place` does, on a node whose first rank is `first`.
  void events(std::int64_t first, std::int64_t place, std::vector<Publication>& publications,
              std::vector<Reading>& readings) const;

 private:
  /// Calls visit(width, begin).
  template <typename Visit>
  void for_rounds(Visit visit) const {
    Time begin{0};
    for (std::int64_t width = 1; width < size_; width = saturating_multiply(width, factor_)) {
      visit(width, begin);
      begin += length(width);
    }
  }
  std::int64_t most_readings(std::int64_t width) const { return std::min(factor_ - 1, (size_ - 1) / width); }
  Time length(std::int64_t width) const { return publish_ + most_readings(width) * read_; }

  Time publish_, read_;
  std::int64_t size_, factor_;
};

/// With which the largest node is done first, of those that are the least for some number of rounds.
std::int64_t best_board_factor(const Nodes& nodes);

}  // namespace chasqui::plan
