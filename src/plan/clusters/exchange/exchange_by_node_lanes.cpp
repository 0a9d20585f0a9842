// SPDX-License-Identifier: MIT
// clusters.md, Theorem 49. Every node has the same number of lanes, one clock each. In a turn lane z deals with the ranks at one place of all other
// nodes, one a step. A rank of a small node has several lanes, whose clocks are equally far apart: it does in a part of a step what it does
// for one of them.
#include "plan/clusters/exchange/exchange_by_node_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostTurnsOfLanes = 64;
constexpr std::int64_t kStepsTried = 64;          ///< up to twice the shortest
constexpr std::int64_t kMostNumbersOfLanes = 16;  ///< of nodes that are tried as numbers of lanes
/// From the end of a part in which something was published on any clock it can be read on all.
constexpr std::int64_t kPartsLater = 2;

/// How nodes work that share out the lanes among equally many ranks.
struct Share {
  std::int64_t parts = 1;   ///< of a step: lanes of one rank
  std::int64_t ranks = 1;   ///< that have lanes
  std::int64_t length = 0;  ///< of a part
  StepSlots lane, other;    ///< what a rank with lanes, or one without, does in a part, on its own clock
};

/// The least number of parts with which a node of `size` ranks has enough of them.
std::int64_t parts_of(std::int64_t lanes, std::int64_t size) {
  for (std::int64_t parts = divide_up(lanes, size);; ++parts) {
    if (lanes % parts == 0) return parts;
  }
}

struct NodeLanes {
  std::int64_t lanes = 1;  ///< m
  std::int64_t length = 0;
  std::int64_t turns = 1, messages = 0, pause = 0;  ///< steps of a turn with messages, and without
  std::map<std::int64_t, Share> shares;             ///< by parts

  std::int64_t begin(std::int64_t turn) const { return turn * (messages + pause); }
  /// The clock of a lane; of those of one rank the parts are the first, the second …
  std::int64_t clock(std::int64_t lane) const { return Clocks{lanes, length}.offset(lane); }
};

class ExchangeByNodeLanes final : public Plan {
 public:
  ExchangeByNodeLanes(const Cluster& cluster, const Problem& problem, Claim claim, NodeLanes lanes, std::int64_t own)
      : Plan(cluster, problem, std::move(claim)), items_(cluster, problem), where_(cluster.nodes),
        lanes_(std::move(lanes)), own_(own) {}

  LocalForm local(Rank rank) const override {
    const One node = node_at(where_.node_of(rank));
    const std::int64_t own = rank.index - node.first, m = lanes_.lanes;
    const WideTicks steps = WideTicks{lanes_.turns} * lanes_.messages;
    const std::int64_t board = items_.for_all() ? m : std::max(m, node.share->parts * node.n);
    require_own_exchange(rank, steps * (2 + board) + WideTicks{items_.k} * 2 * node.n);
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for_steps([&](const Step& step) {
      for (std::int64_t z = 0; z < m; ++z) {
        const auto other = partner(node, z, step);
        if (!other) continue;
        if (z % node.share->ranks == own)
          (items_.for_all() ? form.receives : form.sends).push_back(message(node, z, *other, step));
        add_board(node, z, *other, step, own, form.publications, form.readings);
      }
      const std::int64_t z = own - step.turn * m;  // whose lane deals with this rank
      if (z < 0 || z >= m) return;
      const One there = node_at(modulo(node.number - step.distance, where_.count()));
      (items_.for_all() ? form.sends : form.receives).push_back(message(there, z, rank, step));
    });
    const OneNode alone{node.first, node.n, items_.for_all()};
    add_own(alone, board_alone(alone, items_.k, nodes_, own_), own, own_items(items_, alone), form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t P = machine_.P, each = saturating_multiply(items_.k, P);  // every rank hears of every other one
    require_listable({machine_, nodes_}, problem_, saturating_multiply(P, saturating_multiply(2, each)));
    Schedule s = empty_schedule();
    for (std::int64_t at = 0; at < where_.count(); ++at) {
      const One node = node_at(at);
      for_steps([&](const Step& step) {
        for (std::int64_t z = 0; z < lanes_.lanes; ++z) {
          const auto other = partner(node, z, step);
          if (!other) continue;
          s.sends.push_back(message(node, z, *other, step));
          for (std::int64_t own = 0; own < node.n; ++own)
            add_board(node, z, *other, step, own, s.publications, s.readings);
        }
      });
      const OneNode alone{node.first, node.n, items_.for_all()};
      add_node(alone, board_alone(alone, items_.k, nodes_, own_), own_items(items_, alone), s);
    }
    normalise(s);
    return s;
  }

 private:
  struct One {
    std::int64_t number, first, n;
    const Share* share;

    Rank rank(std::int64_t place) const { return {static_cast<std::int32_t>(first + place % n)}; }
    Rank of_lane(std::int64_t z) const { return rank(z % share->ranks); }
  };
  One node_at(std::int64_t node) const {
    const std::int64_t n = where_.size(node);
    return {node, where_.first_rank(node), n, &lanes_.shares.at(parts_of(lanes_.lanes, n))};
  }

  /// With the node `distance` further on, about item number i.
  struct Step {
    std::int64_t turn, number, distance, i;
  };
  template <typename Visit>
  void for_steps(const Visit& visit) const {
    for (std::int64_t turn = 0; turn < lanes_.turns; ++turn) {
      std::int64_t number = lanes_.begin(turn);
      for (std::int64_t i = 0; i < items_.k; ++i) {
        for (std::int64_t d = 1; d < where_.count(); ++d) visit(Step{turn, number++, d, i});
      }
    }
  }

  /// With whom lane z of the node deals in a step, if anybody.
  std::optional<Rank> partner(const One& node, std::int64_t z, const Step& step) const {
    const std::int64_t there = (node.number + step.distance) % where_.count(), place = step.turn * lanes_.lanes + z;
    if (place >= where_.size(there)) return std::nullopt;
    return Rank{static_cast<std::int32_t>(where_.first_rank(there) + place)};
  }
  /// From the rank to the lane, or back. A reduce-scatter has folded first.
  Send message(const One& node, std::int64_t z, Rank other, const Step& step) const {
    const Rank lane = node.of_lane(z), from = items_.for_all() ? other : lane, to = items_.for_all() ? lane : other;
    const std::int64_t number = step.number + (items_.for_all() ? 0 : kPartsLater + 1);
    const auto [part, second] = items_.item(from, to, step.i);
    return {Time{number * lanes_.length + lanes_.clock(z)}, from, to, part, second};
  }
  /// What rank `own` of the node does on the board about a message of lane z.
  void add_board(const One& node, std::int64_t z, Rank other, const Step& step, std::int64_t own,
                 std::vector<Publication>& publications, std::vector<Reading>& readings) const {
    if (node.n == 1) return;
    const Share& share = *node.share;
    const std::int64_t lane = z % share.ranks, part_of_step = z / share.ranks;
    const StepSlots& slots = own < share.ranks ? share.lane : share.other;
    const std::int64_t among_lanes = own < share.ranks ? modulo(lane - own - 1, share.ranks) : lane;
    const auto time = [&](std::int64_t number, std::int64_t parts_later, std::int64_t slot) {
      const std::int64_t part = number * share.parts + part_of_step + parts_later;
      return Time{part * share.length + lanes_.clock(own % share.ranks) + slot};
    };
    const auto publish = [&](std::int64_t number, std::int64_t slot, Rank origin, Rank to) {
      const auto [part, second] = items_.item(origin, to, step.i);
      publications.push_back({time(number, 0, slots.publications.at(slot)), node.rank(own), part, second});
    };
    const auto read = [&](std::int64_t number, std::int64_t slot, Rank from, Rank origin, Rank to) {
      const auto [part, second] = items_.item(origin, to, step.i);
      readings.push_back({time(number, kPartsLater, slots.readings.at(slot)), node.rank(own), from, part, second});
    };
    if (items_.for_all()) {  // the lane publishes what came, all others read it
      const std::int64_t number = step.number + lanes_.pause - 1;
      if (own == lane) publish(number, 0, other, other);
      else read(number, among_lanes, node.rank(lane), other, other);
    } else if (own != lane) {  // all others publish what the lane folds
      publish(step.number, among_lanes, node.rank(own), other);
    } else {
      for (std::int64_t i = 1; i < node.n; ++i)
        read(step.number, i - 1, node.rank(lane + i), node.rank(lane + i), other);
    }
  }

  ExchangeItems items_;
  NodeIndex where_;
  NodeLanes lanes_;
  std::int64_t own_;  ///< when the own nodes' items begin, behind all that concerns other nodes
};

/// What fits into a part of so many ticks, of nodes of at most `largest` ranks.
bool fit(const Cluster& cluster, bool for_all, std::int64_t largest, Share& share) {
  const std::int64_t there = (cluster.base.L + cluster.base.o).ticks, o = cluster.base.o.ticks;
  const Receiving receiving{there % share.length, o};
  const bool board = largest > 1;
  const std::int64_t of_lane = !board ? 0 : for_all ? 1 : share.ranks - 1;
  const std::int64_t read = !board ? 0 : for_all ? share.ranks - 1 : largest - 1;
  const std::int64_t of_other = board ? share.ranks : 0;
  const auto lane = step_slots(cluster, share.length, receiving, of_lane, read);
  const auto other = for_all ? step_slots(cluster, share.length, {o, 0}, 0, of_other)
                             : step_slots(cluster, share.length, receiving, of_other, 0);
  if (!lane || !other) return false;
  share.lane = *lane;
  share.other = *other;
  return true;
}

/// The least length of such a part, whatever its layout.
WideTicks least_part(const Cluster& cluster, bool for_all, std::int64_t largest, const Share& share) {
  const WideTicks o = cluster.base.o.ticks, p = cluster.nodes.publish.ticks, r = cluster.nodes.read.ticks;
  const WideTicks ranks = share.ranks;
  const WideTicks of_lane = largest == 1 ? 0 : for_all ? p + (ranks - 1) * r : (ranks - 1) * p + (largest - 1) * r;
  const WideTicks of_other = largest == share.ranks ? 0 : for_all ? ranks * r - o : ranks * p;
  return std::max({WideTicks{cluster.base.gap().ticks}, ranks * cluster.nodes.gamma.ticks,
                   2 * o + std::max(of_lane, of_other), WideTicks{1}});
}

std::optional<NodeLanes> lanes_of(const Cluster& cluster, const Problem& problem, std::int64_t lanes) {
  const bool for_all = problem.kind == Kind::allgather;
  NodeLanes found{.lanes = lanes, .turns = divide_up(cluster.nodes.largest(), lanes), .shares = {}};
  found.messages = countable(WideTicks{cluster.nodes.count() - 1} * problem.items, cluster, problem);
  std::map<std::int64_t, std::int64_t> largest;  // of the nodes whose steps have so many parts
  for (const Nodes::Run& run : cluster.nodes.runs) {
    std::int64_t& size = largest[parts_of(lanes, run.size)];
    size = std::max(size, run.size);
  }
  std::int64_t common = 1;  // a step is whole parts
  WideTicks least = 1;
  for (const auto& [parts, size] : largest) {
    common = std::lcm(common, parts);
    found.shares[parts] = {parts, lanes / parts, 0, {}, {}};
    least = std::max(least, parts * least_part(cluster, for_all, size, found.shares[parts]));
  }
  if (least > kMaxTime / 64) return std::nullopt;
  const std::int64_t first = divide_up(static_cast<std::int64_t>(least), common) * common;
  const std::int64_t stride = std::max<std::int64_t>(1, first / kStepsTried / common) * common;
  for (found.length = first; found.length <= 2 * first; found.length += stride) {
    const bool fits = std::all_of(largest.begin(), largest.end(), [&](const auto& each) {
      Share& share = found.shares.at(each.first);
      share.length = found.length / share.parts;
      return fit(cluster, for_all, each.second, share);
    });
    if (!fits) continue;
    found.pause = divide_up(cluster.base.lambda().ticks, found.length) + 2;
    return found;
  }
  return std::nullopt;
}

}  // namespace

PlanPtr exchange_by_node_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound, std::int64_t lanes) {
  auto steps = lanes_of(cluster, problem, lanes);
  if (!steps) return nullptr;
  const OneNode widest{0, cluster.nodes.largest(), problem.kind == Kind::allgather};
  const WideTicks last = WideTicks{steps->begin(steps->turns)} + 2 * kPartsLater + 2;
  const WideTicks begin = last * steps->length + cluster.base.lambda().ticks;
  const WideTicks finish =
      begin + static_cast<WideTicks>(board_alone(widest, problem.items, cluster.nodes, 0).length) * problem.items;
  if (finish > kMaxTime) return nullptr;
  Claim claim{
      Time{static_cast<std::int64_t>(finish)}, bound.time, bound.source,
      fmt::format("{} lane{} a node, some of one rank, {}, in {} turn{} of steps of {}", lanes, lanes == 1 ? "" : "s",
                  problem.kind == Kind::allgather ? "get all items; boards hand out" : "fold and send", steps->turns,
                  steps->turns == 1 ? "" : "s", steps->length)};
  return std::make_shared<ExchangeByNodeLanes>(cluster, problem, std::move(claim), std::move(*steps),
                                               static_cast<std::int64_t>(begin));
}

PlanPtr exchange_by_node_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  const std::int64_t largest = cluster.nodes.largest();
  std::set<std::int64_t> numbers{largest};
  for (std::int64_t m = 1; m < 2 * largest; m *= 2) numbers.insert(m);
  for (const Nodes::Run& run : cluster.nodes.runs) {
    if (static_cast<std::int64_t>(numbers.size()) > 2 * kMostNumbersOfLanes) break;
    numbers.insert(run.size);
  }
  Earliest best;
  for (const std::int64_t lanes : numbers) {
    if (divide_up(largest, lanes) <= kMostTurnsOfLanes)
      best.offer(exchange_by_node_lanes(cluster, problem, bound, lanes));
  }
  return best.plan();
}

}  // namespace chasqui::plan
