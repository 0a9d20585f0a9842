// SPDX-License-Identifier: MIT
// How calls go level by level through a node whose ranks are not all alike near each other: on which rungs a rank folds for others, and
// whom it reads.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "chasqui/model/nearness.hpp"

namespace chasqui::run {

/// A fold by some of the levels of a node; the same on all ranks.
struct Climb {
  unsigned up = 0;    ///< levels in whose groups it is folded, a bit each
  unsigned down = 0;  ///< levels in whose groups the total is told; 0: all ranks read what is at the top
  int chunk = 0;      ///< before that in parts of so many ranks; 0: it is not
  int of = 0;         ///< into which the groups of this level are cut, the nearest of `up` or a nearer one

  bool none() const { return rungs() == 0; }
  int rungs() const { return std::popcount(up) + (chunk != 0 ? 1 : 0); }
  int sets() const {
    return rungs() + 1 + (down != 0 ? 1 : 0);
  }  ///< of lines that a rank may write: its own, a fold of each rung, the total
  friend bool operator==(const Climb&, const Climb&) = default;
};

/// One rank's part in it. On rung 1 the lines of the ranks of a group are folded, on each further one what groups of the rung below have,
/// and at the top, beyond the last rung, what the groups of the last rung have. The members of a lowest group take turns in folding its
/// lines, and those of the first group in another one go on with them there.
class Ladder {
 public:
  Ladder() = default;
  /// `in_order`: operands keep the order of the ranks. Where levels do not, groups of neighbours serve instead, as large as the lowest ones.
  Ladder(const Nearness& near, const Climb& climb, int rank, bool in_order);

  bool none() const { return rungs() == 0; }
  int rungs() const { return rungs_; }
  int height() const { return static_cast<int>(below_.size()); }  ///< rungs on which this rank folds
  int members() const { return members_; }                        ///< of the lowest group of this rank
  int place() const { return place_; }  ///< this rank's in it: it folds the lines place(), place() + members() …
  /// How many lines are folded on a rung where this rank folds, and at the top; and whose.
  int sources(int rung) const { return rung == 1 ? members_ : static_cast<int>(leaders_below(rung).size()); }
  int source(int rung, int i, int line) const {
    if (rung == 1) return ranks_[static_cast<std::size_t>(first_ + i)];
    const Leader& from = leaders_below(rung)[static_cast<std::size_t>(i)];
    return ranks_[static_cast<std::size_t>(from.first + (line < from.members ? line : line % from.members))];
  }
  /// Who tells this rank the total; -1: nobody, it reads what is at the top.
  int told_by() const { return told_by_; }
  bool goes_down() const { return goes_down_; }  ///< the total is told, rather than read by all at the top
  bool tells() const { return tells_; }          ///< this rank tells the total to others

 private:
  struct Leader {
    int first, members;  ///< a lowest group: its first place in ranks_, and how many
  };
  const std::vector<Leader>& leaders_below(int rung) const {
    return rung > rungs_ ? top_ : below_[static_cast<std::size_t>(rung - 1)];
  }

  int rungs_ = 0;
  int first_ = 0, members_ = 0, place_ = 0;  ///< of the lowest group of this rank
  int told_by_ = -1;
  bool goes_down_ = false, tells_ = false;
  std::vector<int> ranks_{};                  ///< by lowest groups
  std::vector<std::vector<Leader>> below_{};  ///< of each rung on which this rank folds; the first has none
  std::vector<Leader> top_{};
};

/// Whom a rank reads in a broadcast, and for whom it publishes again. In each chosen level the first rank of a group does so for the others, or the
/// root if it is one of them.
class Relayed {
 public:
  Relayed() = default;
  Relayed(std::shared_ptr<const Nearness> near, unsigned levels, int rank);

  bool none() const { return own_.empty(); }
  struct Part {
    int from;        ///< whom this rank reads; itself: nobody
    bool publishes;  ///< for others
  };
  Part part(int root) const {
    Part found{root, rank_ == root};
    for (const Own& own : own_) {  // the nearest first
      const int leader = own.group_of[root] == own.group ? root : own.first;
      if (leader != rank_) return {leader, found.publishes};
      found.publishes = found.publishes || own.shared;
    }
    return found;
  }

 private:
  struct Own {
    const int* group_of;
    int group, first;
    bool shared;  ///< with other ranks
  };
  std::vector<Own> own_{};
  std::shared_ptr<const Nearness> near_{};
  int rank_ = 0;
};

}  // namespace chasqui::run
