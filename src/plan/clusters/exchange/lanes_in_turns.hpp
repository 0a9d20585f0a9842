// SPDX-License-Identifier: MIT
// What exchanges by lanes of unequal nodes share (clusters.md, Theorem 45 and clusters.md, Theorem 49). In a turn a lane of a node deals with the
// ranks of one place of all others, one a step: in an all-gather it gets their items, and its node's board hands them out; in a
// reduce-scatter the board brings together what it folds and sends them. Steps are counted on a rank's own clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/node_index.hpp"

namespace chasqui::plan {

/// Turns one after another; between them all that is under way arrives.
struct LaneTurns {
  std::int64_t lanes = 1;  ///< of a node, m
  std::int64_t count = 1;
  // A lane deals with those who are `nearest` … `farthest` - 1 further on; with each about all items.
  std::int64_t nearest = 0, farthest = 0;
  std::int64_t messages = 0, pause = 0;  ///< steps of a turn with messages, and without

  std::int64_t begin(std::int64_t turn) const { return turn * (messages + pause); }
};

/// So many lanes deal with so many places of the others; the pause is not known yet. Throws an Error where a turn takes more than kMaxTime steps.
LaneTurns lane_turns(const Cluster& cluster, const Problem& problem, std::int64_t lanes, std::int64_t places,
                     std::int64_t nearest, std::int64_t farthest);

/// So many steps, or parts of one, after that in which something was published on any clock it can be read on all.
inline constexpr std::int64_t kReadLater = 2;

/// Behind all that concerns other nodes, in steps of so many ticks: when the own nodes' items begin, and when everything ends.
struct BehindTurns {
  WideTicks begin, finish;
};
BehindTurns behind_turns(const Cluster& cluster, const Problem& problem, const LaneTurns& turns, std::int64_t length);

/// Who deals with whom, and at which times, is for those to say who derive from it.
class LanesInTurns : public Plan {
 public:
  LocalForm local(Rank rank) const final;
  Schedule schedule() const final;

 protected:
  /// A node by its number. Its first ranks have lanes, lane z the one at place z mod `working`.
  struct Node {
    std::int64_t number;
    OneNode ranks;
    std::int64_t working;

    Rank of_lane(std::int64_t z) const { return ranks.rank(z % working); }
  };
  /// Lanes deal with those that are `distance` further on, about item number i.
  struct Step {
    std::int64_t turn, number, distance, i;
  };
  struct Lane {
    std::int64_t node, z;
  };

  /// own: when the own nodes' items begin.
  LanesInTurns(const Cluster& cluster, const Problem& problem, Claim claim, std::shared_ptr<const NodeIndex> nodes,
               const LaneTurns& turns, std::int64_t own)
      : Plan(cluster, problem, std::move(claim)), items_(cluster, problem), where_(std::move(nodes)), turns_(turns),
        own_(own) {}

  const NodeIndex& where() const { return *where_; }
  bool for_all() const { return items_.for_all(); }

 private:
  /// How many ranks of a node of this size have lanes: a divisor of their number.
  virtual std::int64_t working(std::int64_t size) const = 0;
  /// With whom lane z of the node deals in a step, if with anybody.
  virtual std::optional<Rank> partner(const Node& node, std::int64_t z, const Step& step) const = 0;
  /// The only lane whose partner a rank of that node can be in a step, if there is one.
  virtual std::optional<Lane> dealer(Rank rank, const Node& node, const Step& step) const = 0;
  /// Begins, in step `number` on the rank's own clock: of its message from or to lane z, …
  virtual std::int64_t sent(Rank from, std::int64_t z, std::int64_t number) const = 0;
  /// … and of what rank `own` of the node publishes for lane z, or reads kReadLater after it was published. slot: how many of those are before it.
  virtual std::int64_t published(const Node& node, std::int64_t own, std::int64_t z, std::int64_t number,
                                 std::int64_t slot) const = 0;
  virtual std::int64_t read(const Node& node, std::int64_t own, std::int64_t z, std::int64_t number,
                            std::int64_t slot) const = 0;

  template <typename Visit>
  void for_steps(const Visit& visit) const;
  Node node_at(std::int64_t number) const;
  Send message(const Node& node, std::int64_t z, Rank other, const Step& step) const;
  void add_board(const Node& node, std::int64_t z, Rank other, const Step& step, std::int64_t own,
                 std::vector<Publication>& publications, std::vector<Reading>& readings) const;
  BoardSteps board(const Node& node) const { return board_alone(node.ranks, items_.k, nodes_, own_); }

  ExchangeItems items_;
  std::shared_ptr<const NodeIndex> where_;
  LaneTurns turns_;
  std::int64_t own_;
};

}  // namespace chasqui::plan
