// SPDX-License-Identifier: MIT
// Groups of a board's ranks, of which members fold or publish for the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "chasqui/model/grouping.hpp"
#include "chasqui/run/operator.hpp"

namespace chasqui::run {

/// For each purpose; size 0: there are none.
struct BoardGroups {
  std::array<Grouping, 3> folds{};  ///< of contributions of one line, of two, and of more
  Grouping readers{};               ///< of a broadcast

  static constexpr std::size_t fold(int lines) { return static_cast<std::size_t>(std::min(lines, 3) - 1); }
  const Grouping& for_lines(int lines) const { return folds[fold(lines)]; }
};

/// One of these as one rank sees it.
struct Groups {
  int size = 0;      ///< ranks of the largest; 0: there are none
  int count = 0;     ///< how many there are
  int smallest = 0;  ///< ranks of that one
  int step = 1;      ///< from a member to the next
  int leap = 0;      ///< from a group's first rank to that of the next
  int own = 0;       ///< this rank's group
  int place = 0;     ///< this rank's in it
  int members = 0;   ///< of this rank's

  int rank_of(int group, int member) const { return group * leap + member * step; }
  int member(int i) const { return rank_of(own, i); }  ///< of this rank's group
  int group_of(int rank) const { return step == 1 ? rank / leap : rank % step; }
};

/// All of them as one rank sees them.
class OwnGroups {
 public:
  OwnGroups() = default;
  OwnGroups(const BoardGroups& all, int ranks, int rank);

  /// Where operands keep the order of the ranks, so do the groups.
  const Groups& for_lines(int lines, const Operator& op) const {
    const std::size_t which = BoardGroups::fold(lines);
    return folds_[which].step != 1 && op.combine != nullptr && !op.commutative ? in_order_[which] : folds_[which];
  }
  const Groups& readers() const { return readers_; }

 private:
  std::array<Groups, 3> folds_{};
  std::array<Groups, 3> in_order_{};  ///< neighbours, where those are dealt out by turns
  Groups readers_;
};

}  // namespace chasqui::run
