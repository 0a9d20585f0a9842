// SPDX-License-Identifier: MIT
// How fast one item enters nodes, and the tree that does it (docs/clusters.md). A node that has been entered sends on
// its lanes; how soon the lanes join depends on when the entered rank, lane 0, informs them: its habit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/model/cluster.hpp"
#include "chasqui/model/units.hpp"

namespace chasqui::plan {

/// The numbers that shape the tree. With `serial` lane 0 informs one lane after another, `publish` each, instead of all
/// by one publication: a reduction backwards in time.
struct SpreadShape {
  std::int64_t lambda, gap, overhead, gamma, publish, read;
  std::int64_t lanes;  ///< n
  bool serial = false;
  std::int64_t late_ranks = 0;  ///< counts ranks: an entry with publish + read left informs so many; 0: counts nodes

  friend bool operator==(const SpreadShape&, const SpreadShape&) = default;
};

/// The shape of broadcasts on nodes of `size` ranks.
SpreadShape spread_shape(const Cluster& cluster, std::int64_t size);

std::int64_t common_unit(const SpreadShape& shape);  ///< of all its lengths

/// Lane 0 makes `alone` sends and then informs lanes 1 .. lanes-1. lanes = 1: it never does.
struct Habit {
  std::int64_t alone = 0;
  std::int64_t lanes = 1;

  friend bool operator==(const Habit&, const Habit&) = default;
};

/// When lane 0 begins to inform the others, for how long it is busy with it, and when a lane may begin to send; counted from
/// the entry of the node. REQUIRES habit.lanes >= 2.
std::int64_t inform_begin(const SpreadShape& shape, const Habit& habit);
std::int64_t inform_busy(const SpreadShape& shape, const Habit& habit);
std::int64_t lane_ready(const SpreadShape& shape, const Habit& habit, std::int64_t lane);

/// The begins of a node's sends under a habit, as early as possible: whoever is ready first, one in gamma (clusters.md,
/// Lemma 3). `undelayed`: informing costs lane 0 nothing, which no habit can beat.
class Turns {
 public:
  Turns(const SpreadShape& shape, const Habit& habit, bool undelayed = false);

  /// Begin of send number i, by time. Time: amortised O(log n).
  std::int64_t begin(std::size_t i);
  /// How many begin at `time` or before, or `most` if they are more. Time: amortised O(log n), and the logarithm of the number.
  std::size_t begun(std::int64_t time, std::size_t most);
  /// Of one lane, in order. REQUIRES that all sends up to the horizon were asked for.
  const std::vector<std::int64_t>& of_lane(std::int64_t lane) const { return by_lane_[static_cast<std::size_t>(lane)]; }

 private:
  struct Ready {
    std::int64_t time, lane;
    friend auto operator<=>(const Ready&, const Ready&) = default;
  };
  void extend();

  SpreadShape shape_;
  Habit habit_;
  bool undelayed_;
  std::int64_t made_by_first_ = 0;
  std::int64_t free_ = 0;     ///< when the adapter may send again
  std::vector<Ready> ready_;  ///< a heap, earliest first
  std::vector<std::int64_t> begins_;
  std::vector<std::vector<std::int64_t>> by_lane_;
};

/// Counts and habits for every remaining time up to T: the least time for which the count reaches what is wanted, or a given one. Before
/// lambda nobody has received anything, so the table begins there; where T < 2 lambda nobody but the root sends, and the table has T alone.
class Spread {
 public:
  /// `only_leaders`: nobody informs anybody before the end. Throws a TableTooLong. REQUIRES a horizon of lambda or more.
  Spread(const SpreadShape& shape, std::int64_t wanted, bool only_leaders = false,
         std::optional<std::int64_t> horizon = std::nullopt);

  const SpreadShape& shape() const { return shape_; }
  std::int64_t unit() const { return unit_; }  ///< all lengths of the shape are multiples of it
  std::int64_t time() const { return time_; }  ///< T
  /// Saturates at what is wanted. 0 for negative times. REQUIRES left <= time() - lambda, or left = time(), or a horizon.
  std::int64_t count(std::int64_t left) const { return left < first_ ? at_once(left) : count_[cell(left)]; }
  const Habit& habit(std::int64_t left) const { return habits_[habit_number(left)]; }

  /// A node of the tree: entered at `label`, with a subtree of `size` nodes that are numbered index .. index+size-1.
  struct Node {
    std::int64_t index = 0, label = 0, left = 0, size = 0;
    std::int64_t parent = -1;       ///< index of the node that entered it
    std::int64_t parent_lane = 0;   ///< … by which lane
    std::int64_t parent_begin = 0;  ///< … and when, counted from the start
  };
  Node root() const;
  /// Calls visit(child) for the children of a node, lane by lane and by time within a lane.
  template <typename Visit>
  void for_children(const Node& node, Visit visit) const;
  /// The node with this number (clusters.md, Theorem 7). Time: the number of children on the way down to it.
  Node node(std::int64_t index) const;
  /// The sends that a lane of this node makes, counted from the start: what of the tree is left to it.
  std::vector<Node> children(const Node& node) const;

 private:
  std::size_t cell(std::int64_t left) const { return static_cast<std::size_t>((left - first_) / unit_); }
  std::uint32_t habit_number(std::int64_t left) const { return left < first_ ? 0 : used_[cell(left)]; }
  /// What an entry counts without its sends.
  std::int64_t at_once(std::int64_t left) const {
    if (left < 0) return 0;
    return shape_.late_ranks > 0 && left >= shape_.publish + shape_.read ? std::min(shape_.late_ranks, wanted_) : 1;
  }
  std::int64_t sum(Turns& turns, std::int64_t left);
  std::uint32_t number_of(const Habit& habit);
  /// The best habit for this time, behind those for shorter ones.
  void add(std::int64_t left);
  /// Finds T where it is less than 2 lambda.
  bool by_root_alone();

  SpreadShape shape_;
  std::int64_t wanted_, unit_, first_, time_ = 0;
  std::int64_t work_ = 0;            ///< done so far, in additions
  std::vector<std::int64_t> count_;  ///< by remaining time, in units from first_ on
  std::vector<std::uint32_t> used_;  ///< which of habits_
  std::vector<Habit> habits_;
  std::vector<Turns> turns_;         ///< in the order of habits_, complete up to time()
  std::vector<std::int64_t> lanes_;  ///< that may be informed
  std::vector<Turns> undelayed_;     ///< when lane 0 has made so many sends and more: no habit of more is better
};

template <typename Visit>
void Spread::for_children(const Node& node, Visit visit) const {
  const Turns& turns = turns_[habit_number(node.left)];
  const std::int64_t last = node.left - shape_.lambda;
  const std::int64_t end = node.index + node.size;
  std::int64_t next = node.index + 1;
  for (std::int64_t lane = 0; lane < habit(node.left).lanes && next < end; ++lane) {
    const std::vector<std::int64_t>& begins = turns.of_lane(lane);
    if (lane > 0 && (begins.empty() || begins.front() > last)) return;  // later lanes begin later
    for (const std::int64_t begin : begins) {
      if (begin > last || next >= end) break;
      Node child{next, node.label + begin + shape_.lambda, last - begin, 0, node.index, lane, node.label + begin};
      child.size = std::min(count(child.left), end - next);
      next += child.size;
      visit(child);
    }
  }
}

/// The table of a Spread would take too long to make.
class TableTooLong : public Error {
 public:
  using Error::Error;
};

/// Lengths rounded down to multiples of a step, so that nothing on this shape is slower, or up, so that what is planned is legal on it
/// (clusters.md, Lemma 32).
enum class Rounding { down, up };
SpreadShape rounded(const SpreadShape& shape, std::int64_t step, Rounding rounding);

/// The next one to try where a table was too long.
std::int64_t coarser_step(const SpreadShape& shape, std::int64_t step);

/// make(step) for the first of the steps, from the common unit on, with which no table is too long.
template <typename Make>
auto in_short_tables(const SpreadShape& shape, Make make) {
  for (std::int64_t step = common_unit(shape);; step = coarser_step(shape, step)) {
    try {
      return make(step);
    } catch (const TableTooLong&) {
    }
  }
}

/// A tree that is legal on this shape: the exact one, or where its table would be too long one for lengths that are rounded up.
Spread tree_of_nodes(const SpreadShape& shape, std::int64_t wanted, bool only_leaders);
/// What is wanted is not reached earlier.
std::int64_t least_time(const SpreadShape& shape, std::int64_t wanted);

}  // namespace chasqui::plan
