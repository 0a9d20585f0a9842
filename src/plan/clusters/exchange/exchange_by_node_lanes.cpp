// SPDX-License-Identifier: MIT
// clusters.md, Theorem 49. Every node has the same number of lanes, one clock each. In a turn lane z deals with the ranks at one place of all other
// nodes, one a step. A rank of a small node has several lanes, whose clocks are equally far apart: it does in a part of a step what it does
// for one of them.
#include "plan/clusters/exchange/exchange_by_node_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/exchange/lanes_in_turns.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostTurnsOfLanes = 64;
constexpr std::int64_t kStepsTried = 64;          ///< up to twice the shortest
constexpr std::int64_t kMostNumbersOfLanes = 16;  ///< of nodes that are tried as numbers of lanes

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
  LaneTurns turns;
  std::int64_t length = 0;               ///< of a step
  std::map<std::int64_t, Share> shares;  ///< by parts
};

class ExchangeByNodeLanes final : public LanesInTurns {
 public:
  ExchangeByNodeLanes(const Cluster& cluster, const Problem& problem, Claim claim, NodeLanes lanes, std::int64_t own)
      : LanesInTurns(cluster, problem, std::move(claim), std::make_shared<const NodeIndex>(cluster.nodes), lanes.turns,
                     own),
        lanes_(std::move(lanes)), clocks_{lanes_.turns.lanes, lanes_.length} {}

 private:
  std::int64_t working(std::int64_t size) const override {
    return lanes_.turns.lanes / parts_of(lanes_.turns.lanes, size);
  }

  std::optional<Rank> partner(const Node& node, std::int64_t z, const Step& step) const override {
    const std::int64_t there = (node.number + step.distance) % where().count();
    const std::int64_t place = step.turn * lanes_.turns.lanes + z;
    if (place >= where().size(there)) return std::nullopt;
    return Rank{static_cast<std::int32_t>(where().first_rank(there) + place)};
  }
  std::optional<Lane> dealer(Rank rank, const Node& node, const Step& step) const override {
    const std::int64_t z = rank.index - node.ranks.first - step.turn * lanes_.turns.lanes;
    if (z < 0 || z >= lanes_.turns.lanes) return std::nullopt;
    return Lane{modulo(node.number - step.distance, where().count()), z};
  }

  /// The clock of lane z; of those of one rank the parts are the first, the second …
  std::int64_t sent(Rank, std::int64_t z, std::int64_t number) const override {
    return number * lanes_.length + clocks_.offset(z);
  }
  std::int64_t published(const Node& node, std::int64_t own, std::int64_t z, std::int64_t number,
                         std::int64_t slot) const override {
    const Share& share = share_of(node);
    return time(share, own, number * share.parts + z / share.ranks) + slots(share, own).publications.at(slot);
  }
  std::int64_t read(const Node& node, std::int64_t own, std::int64_t z, std::int64_t number,
                    std::int64_t slot) const override {
    const Share& share = share_of(node);
    return time(share, own, number * share.parts + z / share.ranks + kReadLater) + slots(share, own).readings.at(slot);
  }
  const Share& share_of(const Node& node) const { return lanes_.shares.at(lanes_.turns.lanes / node.working); }
  static const StepSlots& slots(const Share& share, std::int64_t own) {
    return own < share.ranks ? share.lane : share.other;
  }
  std::int64_t time(const Share& share, std::int64_t own, std::int64_t part) const {
    return part * share.length + clocks_.offset(own % share.ranks);
  }

  NodeLanes lanes_;
  Clocks clocks_;  ///< of the lanes
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
  NodeLanes found{.turns = lane_turns(cluster, problem, lanes, cluster.nodes.largest(), 1, cluster.nodes.count()),
                  .shares = {}};
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
    found.turns.pause = divide_up(cluster.base.lambda().ticks, found.length) + 2;
    return found;
  }
  return std::nullopt;
}

}  // namespace

PlanPtr exchange_by_node_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound, std::int64_t lanes) {
  auto steps = lanes_of(cluster, problem, lanes);
  if (!steps) return nullptr;
  const auto [begin, finish] = behind_turns(cluster, problem, steps->turns, steps->length);
  if (finish > kMaxTime) return nullptr;
  Claim claim{
      Time{static_cast<std::int64_t>(finish)}, bound.time, bound.source,
      fmt::format("{} lane{} a node, some of one rank, {}, in {} turn{} of steps of {}", lanes, lanes == 1 ? "" : "s",
                  problem.kind == Kind::allgather ? "get all items; boards hand out" : "fold and send",
                  steps->turns.count, steps->turns.count == 1 ? "" : "s", steps->length)};
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
