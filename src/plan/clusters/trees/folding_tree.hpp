// SPDX-License-Identifier: MIT
// A tree of ranks along which the contributions of all flow to one of them, on nodes of any size (docs/clusters.md, Theorem 34).
// It is made backwards in time: whoever is reached cuts the ranks that are left to it into pieces, and each piece is reached by a message.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/clusters/timetable.hpp"
#include "plan/clusters/trees/spread.hpp"

namespace chasqui::plan {

/// One rank gives all that it has to another one: by a message, or by a publication and its reading.
struct HandOver {
  Rank from, to;
  bool message = false;
  std::int64_t begin = 0;  ///< of the send or the publication, as far as the tree knows
  std::int64_t depth = 0;  ///< hand-overs from here to the root
  std::pair<Part, Part> what;
};

/// Where to look for trees.
struct FoldStyle {
  std::int64_t step = 1;     ///< all lengths are rounded up to multiples of it
  std::int64_t ahead = 0;    ///< a piece may be entered at a node so many nodes behind its first one
  bool parts = true;         ///< ranks of one node may leave it by several messages
  bool every_habit = false;  ///< not only the one that is best where all nodes are as large
};

class FoldingTree {
 public:
  FoldingTree(const Cluster& cluster, Rank root, const FoldStyle& style);

  /// The hand-overs that reach all ranks in `T` ticks, each behind those that it waits for, or nothing where none are found. Where a node is left by
  /// several messages they may lie closer than gamma: whoever books them moves them apart. Throws a TableTooLong.
  std::optional<std::vector<HandOver>> within(std::int64_t T);

 private:
  /// A piece: the ranks from `begin` on, as many as can be reached in the time that is left, none from `end` on.
  struct Place {
    std::int64_t begin, left, end;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const;
  };
  /// How: entered at one of the ranks first .. end-1 of one node, up to rank reach-1.
  struct Way {
    std::int64_t reach = 0, first = 0, end = 0;
    Habit habit{0, 0};          ///< no lanes: by the board alone
    std::size_t skip_from = 0;  ///< what lies before the node is for lane 0, from this one of its messages on
  };
  struct Range {
    std::int64_t begin, end;
  };
  /// A message that a lane of an entered node gets.
  struct Slot {
    std::int64_t lane, begin;
    Place place;
    std::int64_t reach;
  };
  struct Entered {
    Way way;
    Rank leader;
    std::int64_t label, left;  ///< when, backwards, and what time is left
    Range skipped;             ///< the ranks before those of the node …
    std::vector<Range> pools;  ///< … and behind them
    std::int64_t depth;
  };

  const Way& way(const Place& place);
  void try_entry(std::int64_t first, std::int64_t end, const Place& place, Way& best);
  /// Cuts the ranks outside the node into pieces for the messages of its lanes. Returns how many are left over.
  std::int64_t deal(const Way& way, std::int64_t left, const Range& skipped, const std::vector<Range>& pools,
                    std::vector<Slot>* slots);
  /// So many messages of lane 0 from this one on have what is skipped, or none where they do not.
  std::size_t skipping(const std::vector<std::int64_t>& begins, std::size_t from, std::int64_t last,
                       const Range& skipped);
  std::vector<Habit> habits(std::int64_t lanes, std::int64_t left);
  Turns& turns(const Habit& habit);
  /// False where a lane would have to tell of three intervals.
  bool build(const Entered& at, std::int64_t T, std::vector<HandOver>& all, std::vector<Entered>& open);
  SpreadShape shape(std::int64_t lanes) const;

  const Nodes& nodes_;
  Rank root_;
  FoldStyle style_;
  SpreadShape shape_;                       ///< backwards: to publish takes what reading takes
  std::vector<std::int64_t> first_of_;      ///< by node, and P
  std::vector<std::size_t> node_of_;        ///< by rank
  std::vector<std::int64_t> board_labels_;  ///< when a board has reached one more rank, backwards
  std::unordered_map<Place, Way, Hash> ways_;
  std::deque<std::pair<Habit, Turns>> turns_;
  std::vector<std::optional<Spread>> tables_;  ///< by lanes
  std::int64_t work_ = 0, horizon_ = 0;
};

/// Books them in their order, each as early as it can be (Lemma 15); `has`: since when each rank has what it has.
void book(const std::vector<HandOver>& all, Timetable& table, std::vector<Time>& has);

/// One that is found fast; nothing where it would not end before `before`.
std::optional<std::vector<HandOver>> quick_folding(const Cluster& cluster, Rank root, Time before);

}  // namespace chasqui::plan
