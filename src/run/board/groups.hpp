// SPDX-License-Identifier: MIT
// Groups of a board's ranks, of which members fold or publish for the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "run/board/ladder.hpp"

namespace chasqui::run {

/// Neighbours in rank order, so many to a group, the last group perhaps smaller.
struct Grouping {
  int size = 0;   ///< ranks of the largest; 0: there are no groups
  int count = 0;  ///< groups
  /// Of so many ranks each, but for the last.
  static Grouping neighbours(int ranks, int size) { return {size, (ranks + size - 1) / size}; }
  int smallest(int ranks) const { return ranks - (count - 1) * size; }  ///< ranks of that group
  friend bool operator==(const Grouping&, const Grouping&) = default;
};

/// For each purpose; of size 0, or none(): there are none.
struct BoardGroups {
  std::array<Grouping, 3> folds{};  ///< of contributions of one line, of two, and of more, wherever ranks lie
  std::array<Climb, 3> climbs{};    ///< of the same, by the levels of the node
  unsigned relay = 0;               ///< levels in which a broadcast is published again, a bit each

  static constexpr std::size_t fold(int lines) { return static_cast<std::size_t>(std::min(lines, 3) - 1); }
  const Grouping& for_lines(int lines) const { return folds[fold(lines)]; }
  const Climb& climb(int lines) const { return climbs[fold(lines)]; }
};

/// Neighbours as one rank sees them.
struct Groups {
  int size = 0;      ///< ranks of the largest group; 0: there are none
  int count = 0;     ///< how many there are
  int smallest = 0;  ///< ranks of that one
  int own = 0;       ///< this rank's group
  int place = 0;     ///< this rank's in it
  int members = 0;   ///< of this rank's

  int rank_of(int group, int member) const { return group * size + member; }
  int member(int i) const { return rank_of(own, i); }  ///< of this rank's group
};

/// All of them as one rank sees them.
class OwnGroups {
 public:
  OwnGroups() = default;
  OwnGroups(const BoardGroups& all, int ranks, int rank, const std::shared_ptr<const Nearness>& near);

  const Groups& for_lines(int lines) const { return folds_[BoardGroups::fold(lines)]; }
  /// REQUIRES a climb for so many.
  const Ladder& ladder(int lines, bool in_order) const {
    return (in_order ? levels_->in_order : levels_->ladders)[BoardGroups::fold(lines)];
  }
  /// REQUIRES levels for readers.
  const Relayed& readers() const { return levels_->readers; }

 private:
  struct Levels {
    std::array<Ladder, 3> ladders{};
    std::array<Ladder, 3> in_order{};  ///< where operands keep the order of the ranks, so do the groups
    Relayed readers{};
  };
  std::array<Groups, 3> folds_{};
  std::shared_ptr<const Levels> levels_{};  ///< apart: what every call uses lies close together
};

}  // namespace chasqui::run
