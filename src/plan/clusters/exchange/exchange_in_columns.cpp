// SPDX-License-Identifier: MIT
// clusters.md, Theorem 44: columns of ranks keep the turns of equal nodes; messages that would stay in a node or concern ranks that there are not are
// left out.
#include "plan/clusters/exchange/exchange_in_columns.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/columns.hpp"
#include "plan/clusters/exchange/turn_groups.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

class ExchangeInColumns final : public Plan {
 public:
  ExchangeInColumns(const Cluster& cluster, const Problem& problem, Claim claim, std::shared_ptr<const NodeIndex> nodes,
                    const Columns& columns, TurnGroups turns)
      : Plan(cluster, problem, std::move(claim)), items_(cluster, problem), index_(std::move(nodes)), where_(*index_),
        columns_(columns), turns_(std::move(turns)) {}

  LocalForm local(Rank rank) const override {
    const OneNode node = node_of(rank);
    const WideTicks messages = static_cast<WideTicks>(items_.P - node.n) * items_.k;
    require_own_exchange(rank, 2 * messages + static_cast<WideTicks>(items_.k) * (node.publications() + node.n - 1));
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for (const TurnGroup& group : turns_.groups) {
      for_messages(group, items_.k, columns_.nearest(), columns_.count(),
                   [&](std::int64_t begin, std::int64_t u, std::int64_t d, std::int64_t i) {
                     const auto to = moved(rank, d, u), from = moved(rank, -d, -u);
                     if (to && outside(node, *to)) form.sends.push_back(message(begin, group, rank, *to, i));
                     if (from && outside(node, *from)) form.receives.push_back(message(begin, group, *from, rank, i));
                   });
    }
    add_own(node, board(node), rank.index - node.first, own_items(items_, node), form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t P = machine_.P,
                       each = saturating_multiply(items_.k, P);  // a rank has no more messages than that
    const std::int64_t shared = saturating_multiply(2 * items_.k, where_.largest());
    require_listable({machine_, nodes_}, problem_, saturating_multiply(P, saturating_add(each, shared)));
    Schedule s = empty_schedule();
    for (const TurnGroup& group : turns_.groups) {
      for_messages(group, items_.k, columns_.nearest(), columns_.count(),
                   [&](std::int64_t begin, std::int64_t u, std::int64_t d, std::int64_t i) {
                     for (std::int32_t r = 0; r < P; ++r) {
                       const auto to = moved(Rank{r}, d, u);
                       if (to && where_.node_of(*to) != where_.node_of(Rank{r}))
                         s.sends.push_back(message(begin, group, Rank{r}, *to, i));
                     }
                   });
    }
    for (std::int64_t at = 0; at < where_.count(); ++at) {
      const OneNode node{where_.first_rank(at), where_.size(at), items_.for_all()};
      add_node(node, board(node), own_items(items_, node), s);
    }
    normalise(s);
    return s;
  }

 private:
  OneNode node_of(Rank rank) const {
    const std::int64_t at = where_.node_of(rank);
    return {where_.first_rank(at), where_.size(at), items_.for_all()};
  }
  static bool outside(const OneNode& node, Rank rank) {
    return rank.index < node.first || rank.index >= node.first + node.n;
  }
  /// Whoever is so many columns and places further on, if anybody.
  std::optional<Rank> moved(Rank rank, std::int64_t columns, std::int64_t places) const {
    const Columns::Place place = columns_.of(rank);
    return columns_.at(place.column + columns, place.place + places);
  }
  Send message(std::int64_t begin, const TurnGroup& group, Rank from, Rank to, std::int64_t i) const {
    const auto [part, second] = items_.item(from, to, i);
    return {Time{begin + group.offset(columns_.of(from).place)}, from, to, part, second};
  }
  /// Behind all messages.
  BoardSteps board(const OneNode& node) const { return board_alone(node, items_.k, nodes_, turns_.finish); }

  ExchangeItems items_;
  std::shared_ptr<const NodeIndex> index_;  ///< which the columns may refer to
  const NodeIndex& where_;
  Columns columns_;
  TurnGroups turns_;
};

PlanPtr in_such_columns(const Cluster& cluster, const Problem& problem, const Bound& bound,
                        std::shared_ptr<const NodeIndex> nodes, const Columns& columns) {
  const Cluster equal{cluster.base,
                      {.runs = {{columns.count(), columns.length()}},
                       .gamma = cluster.nodes.gamma,
                       .publish = cluster.nodes.publish,
                       .read = cluster.nodes.read}};
  require_countable_step(equal, problem);
  const std::int64_t distances = columns.count() - columns.nearest();
  const std::int64_t messages = countable(static_cast<WideTicks>(distances) * problem.items, cluster, problem);
  TurnGroups turns = turn_groups(equal, problem, messages);
  const OneNode largest{0, cluster.nodes.largest(), problem.kind == Kind::allgather};
  const BoardSteps own = board_alone(largest, problem.items, cluster.nodes, turns.finish);
  const std::int64_t finish =
      countable(WideTicks{turns.finish} + static_cast<WideTicks>(own.length) * own.count, cluster, problem);
  const std::size_t groups = turns.groups.size();
  const Claim claim{Time{finish}, bound.time, bound.source,
                    fmt::format("in turn to every rank of other nodes, {} of {}; boards inside nodes, in steps of {}, "
                                "{} group{} of turns",
                                columns.are_nodes() ? "as if nodes were" : "in columns", columns.length(),
                                turns.groups.front().length, groups, groups == 1 ? "" : "s")};
  return std::make_shared<ExchangeInColumns>(cluster, problem, claim, std::move(nodes), columns, std::move(turns));
}

}  // namespace

PlanPtr exchange_in_columns(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  const auto nodes = std::make_shared<const NodeIndex>(cluster.nodes);
  const std::int64_t P = nodes->ranks(), largest = nodes->largest();
  Earliest best;
  const auto offer = [&](const Columns& columns) {
    best.offer(in_such_columns(cluster, problem, bound, nodes, columns));
  };
  offer(Columns::in_order(*nodes, largest));
  if (P % largest != 0) offer(Columns::in_order(*nodes, divide_up(P, P / largest)));  // with fewer empty places
  if (nodes->count() <= 2 * P / largest) offer(Columns::of_nodes(*nodes));            // not most of them empty
  return best.plan();
}

}  // namespace chasqui::plan
