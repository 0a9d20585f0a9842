// SPDX-License-Identifier: MIT
// clusters.md, Theorem 29, second part: messages in turns, then the own node's items on its board.
#include "plan/clusters/exchange/exchange_in_turns.hpp"

#include <utility>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/turn_groups.hpp"

namespace chasqui::plan {
namespace {

class ExchangeInTurns final : public Plan {
 public:
  ExchangeInTurns(const Cluster& cluster, const Problem& problem, Claim claim, TurnGroups turns, const BoardSteps& own)
      : Plan(cluster, problem, std::move(claim)), e_(cluster, problem), turns_(std::move(turns)), own_(own) {}

  LocalForm local(Rank rank) const override {
    const WideTicks items = static_cast<WideTicks>(e_.N - 1) * e_.k * e_.n;
    require_own_exchange(rank, 2 * items + static_cast<WideTicks>(e_.k) * (e_.node(0).publications() + e_.n - 1));
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = rank.index / e_.n, lane = rank.index % e_.n;
    for (const TurnGroup& group : turns_.groups) {
      for_messages(group, e_.k, 1, e_.N, [&](std::int64_t begin, std::int64_t u, std::int64_t d, std::int64_t i) {
        form.sends.push_back(message(begin, group, node, lane, d, u, i));
        form.receives.push_back(message(begin, group, node - d, modulo(lane - u, e_.n), d, u, i));
      });
    }
    add_own(e_.node(node), own_, lane, own_items(e_, e_.node(node)), form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t P = machine_.P, each = saturating_multiply(e_.k, P);  // a rank has no more messages than that
    const std::int64_t board = saturating_multiply(2 * e_.k, e_.n);
    require_listable({machine_, nodes_}, problem_, saturating_multiply(P, saturating_add(each, board)));
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < e_.N; ++node) {
      for (const TurnGroup& group : turns_.groups) {
        for_messages(group, e_.k, 1, e_.N, [&](std::int64_t begin, std::int64_t u, std::int64_t d, std::int64_t i) {
          for (std::int64_t lane = 0; lane < e_.n; ++lane)
            s.sends.push_back(message(begin, group, node, lane, d, u, i));
        });
      }
      add_node(e_.node(node), own_, own_items(e_, e_.node(node)), s);
    }
    normalise(s);
    return s;
  }

 private:
  Send message(std::int64_t begin, const TurnGroup& group, std::int64_t node, std::int64_t lane, std::int64_t d,
               std::int64_t u, std::int64_t i) const {
    const Rank from = e_.rank(node, lane), to = e_.rank(node + d, lane + u);
    const auto [part, second] = e_.item(from, to, i);
    return {Time{begin + group.offset(lane)}, from, to, part, second};
  }

  EqualExchange e_;
  TurnGroups turns_;
  BoardSteps own_;
};

}  // namespace

PlanPtr exchange_in_turns(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  require_countable_step(cluster, problem);
  const EqualExchange e(cluster, problem);
  const std::int64_t messages = countable(static_cast<WideTicks>(e.N - 1) * e.k, cluster, problem);
  TurnGroups turns;  // none on one node: nothing but its board
  if (messages > 0) turns = turn_groups(cluster, problem, messages);
  const BoardSteps own = board_alone(e.node(0), e.k, cluster.nodes, turns.finish);
  const std::int64_t finish =
      countable(WideTicks{turns.finish} + static_cast<WideTicks>(own.length) * own.count, cluster, problem);
  std::string how = "on the board";
  if (messages > 0) {
    const std::size_t groups = turns.groups.size();
    how = fmt::format("{}; boards inside nodes, in steps of {}, {} group{} of turns",
                      problem.kind == Kind::alltoall ? "in turn to every rank of every node"
                                                     : "every rank to every rank of other nodes",
                      turns.groups.front().length, groups, groups == 1 ? "" : "s");
  }
  const Claim claim{Time{finish}, bound.time, bound.source, how};
  return std::make_shared<ExchangeInTurns>(cluster, problem, claim, std::move(turns), own);
}

}  // namespace chasqui::plan
