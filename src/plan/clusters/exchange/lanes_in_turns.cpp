// SPDX-License-Identifier: MIT
#include "plan/clusters/exchange/lanes_in_turns.hpp"

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {

LaneTurns lane_turns(const Cluster& cluster, const Problem& problem, std::int64_t lanes, std::int64_t places,
                     std::int64_t nearest, std::int64_t farthest) {
  return {.lanes = lanes,
          .count = divide_up(places, lanes),
          .nearest = nearest,
          .farthest = farthest,
          .messages = countable(WideTicks{farthest - nearest} * problem.items, cluster, problem)};
}

BehindTurns behind_turns(const Cluster& cluster, const Problem& problem, const LaneTurns& turns, std::int64_t length) {
  const WideTicks steps = WideTicks{turns.begin(turns.count)} + 2 * kReadLater + 2;
  const WideTicks begin = steps * length + cluster.base.lambda().ticks;
  const OneNode widest{0, cluster.nodes.largest(), problem.kind == Kind::allgather};
  return {begin, begin + WideTicks{board_alone(widest, problem.items, cluster.nodes, 0).length} * problem.items};
}

LocalForm LanesInTurns::local(Rank rank) const {
  const Node node = node_at(where_->node_of(rank));
  const std::int64_t own = rank.index - node.ranks.first, m = turns_.lanes, n = node.ranks.n;
  const WideTicks steps = WideTicks{turns_.count} * turns_.messages;
  // A lane of a reduce-scatter publishes for the others, and reads from all of its node.
  const std::int64_t on_board = for_all() ? m : m + m / node.working * n;
  require_own_exchange(rank, steps * (2 + on_board) + WideTicks{items_.k} * 2 * n);
  LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
  std::vector<Send>& of_lane = for_all() ? form.receives : form.sends;
  std::vector<Send>& with_lane = for_all() ? form.sends : form.receives;
  for_steps([&](const Step& step) {
    for (std::int64_t z = 0; z < m; ++z) {
      const auto other = partner(node, z, step);
      if (!other) continue;
      if (z % node.working == own) of_lane.push_back(message(node, z, *other, step));
      add_board(node, z, *other, step, own, form.publications, form.readings);
    }
    const auto lane = dealer(rank, node, step);
    if (!lane) return;
    const Node there = node_at(lane->node);
    if (partner(there, lane->z, step) == rank) with_lane.push_back(message(there, lane->z, rank, step));
  });
  add_own(node.ranks, board(node), own, own_items(items_, node.ranks), form);
  return in_order(std::move(form));
}

Schedule LanesInTurns::schedule() const {
  const std::int64_t P = machine_.P, each = saturating_multiply(items_.k, P);  // every rank hears of every other one
  require_listable({machine_, nodes_}, problem_, saturating_multiply(P, saturating_multiply(2, each)));
  Schedule s = empty_schedule();
  for (std::int64_t number = 0; number < where_->count(); ++number) {
    const Node node = node_at(number);
    for_steps([&](const Step& step) {
      for (std::int64_t z = 0; z < turns_.lanes; ++z) {
        const auto other = partner(node, z, step);
        if (!other) continue;
        s.sends.push_back(message(node, z, *other, step));
        for (std::int64_t own = 0; own < node.ranks.n; ++own)
          add_board(node, z, *other, step, own, s.publications, s.readings);
      }
    });
    add_node(node.ranks, board(node), own_items(items_, node.ranks), s);
  }
  normalise(s);
  return s;
}

template <typename Visit>
void LanesInTurns::for_steps(const Visit& visit) const {
  for (std::int64_t turn = 0; turn < turns_.count; ++turn) {
    std::int64_t number = turns_.begin(turn);
    for (std::int64_t i = 0; i < items_.k; ++i) {
      for (std::int64_t d = turns_.nearest; d < turns_.farthest; ++d) visit(Step{turn, number++, d, i});
    }
  }
}

LanesInTurns::Node LanesInTurns::node_at(std::int64_t number) const {
  const std::int64_t size = where_->size(number);
  return {number, {where_->first_rank(number), size, for_all()}, working(size)};
}

/// From the rank to the lane, or back. A reduce-scatter has folded first.
Send LanesInTurns::message(const Node& node, std::int64_t z, Rank other, const Step& step) const {
  const Rank lane = node.of_lane(z), from = for_all() ? other : lane, to = for_all() ? lane : other;
  const std::int64_t number = step.number + (for_all() ? 0 : kReadLater + 1);
  const auto [part, second] = items_.item(from, to, step.i);
  return {Time{sent(from, z, number)}, from, to, part, second};
}

/// What rank `own` of the node does on the board about a message of lane z.
void LanesInTurns::add_board(const Node& node, std::int64_t z, Rank other, const Step& step, std::int64_t own,
                             std::vector<Publication>& publications, std::vector<Reading>& readings) const {
  const OneNode& ranks = node.ranks;
  if (ranks.n == 1) return;
  const std::int64_t lane = z % node.working;
  const std::int64_t among_lanes =  // in which order it looks at them
      own < node.working ? modulo(lane - own - 1, node.working) : lane;
  const auto publish = [&](std::int64_t number, std::int64_t slot, Rank origin) {
    const auto [part, second] = items_.item(origin, other, step.i);
    publications.push_back({Time{published(node, own, z, number, slot)}, ranks.rank(own), part, second});
  };
  const auto take = [&](std::int64_t number, std::int64_t slot, Rank from, Rank origin) {
    const auto [part, second] = items_.item(origin, other, step.i);
    readings.push_back({Time{read(node, own, z, number, slot)}, ranks.rank(own), from, part, second});
  };
  if (for_all()) {  // the lane publishes what came, all others read it
    const std::int64_t came = step.number + turns_.pause - 1;
    if (own == lane) publish(came, 0, other);
    else take(came, among_lanes, ranks.rank(lane), other);
  } else if (own != lane) {  // all others publish what the lane folds
    publish(step.number, among_lanes, ranks.rank(own));
  } else {
    for (std::int64_t i = 1; i < ranks.n; ++i) take(step.number, i - 1, ranks.rank(lane + i), ranks.rank(lane + i));
  }
}

}  // namespace chasqui::plan
