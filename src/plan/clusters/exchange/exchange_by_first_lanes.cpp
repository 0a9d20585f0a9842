// SPDX-License-Identifier: MIT
// clusters.md, Theorem 45. The first m ranks of every node are its lanes. In a turn lane z, at some place of its column, deals with the ranks that
// are u places further on in all columns, one a step: with all turns a node has dealt with all ranks. Steps are counted on a rank's own clock.
#include "plan/clusters/exchange/exchange_by_first_lanes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/columns.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/exchange/lanes_in_turns.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostTurns = 64;
constexpr std::int64_t kLengthsTried = 64;  ///< tried up to twice the shortest
constexpr std::int64_t kShifts = 16;

/// What a rank does on the board in a step, and where in it: lanes, and the others of their nodes.
struct TurnSteps {
  StepSlots lane, other;
};

/// When what happens.
struct FirstLanes {
  LaneTurns turns;
  std::int64_t length = 0;  ///< of a step
  std::int64_t shift = 0;   ///< places by which the first turn goes further
  Clocks clocks;
  std::vector<TurnSteps> layouts;  ///< by turn

  /// By which a rank works in a step of its own: receptions may come in the step before that in which they were sent.
  const TurnSteps& layout(std::int64_t step) const {
    const std::int64_t turn = (step + 1) / (turns.messages + turns.pause);
    return layouts[static_cast<std::size_t>(std::clamp<std::int64_t>(turn, 0, turns.count - 1))];
  }
  std::int64_t time(std::int64_t step, std::int64_t place, std::int64_t in_step) const {
    return step * length + clocks.offset(place) + in_step;
  }
};

class ExchangeByFirstLanes final : public LanesInTurns {
 public:
  ExchangeByFirstLanes(const Cluster& cluster, const Problem& problem, Claim claim,
                       std::shared_ptr<const NodeIndex> nodes, const Columns& columns, FirstLanes lanes,
                       std::int64_t own)
      : LanesInTurns(cluster, problem, std::move(claim), std::move(nodes), lanes.turns, own), columns_(columns),
        lanes_(std::move(lanes)) {}

 private:
  std::int64_t working(std::int64_t) const override { return lanes_.turns.lanes; }

  /// In the last turn those that were dealt with in the first are left out.
  std::optional<Rank> partner(const Node& node, std::int64_t z, const Step& step) const override {
    if (step.turn * lanes_.turns.lanes + z >= columns_.length()) return std::nullopt;
    const Columns::Place place = columns_.of(node.of_lane(z));
    const auto rank = columns_.at(place.column + step.distance, place.place + further(step));
    const OneNode& own = node.ranks;
    if (!rank || (rank->index >= own.first && rank->index < own.first + own.n)) return std::nullopt;
    return rank;
  }
  std::optional<Lane> dealer(Rank rank, const Node&, const Step& step) const override {
    const Columns::Place place = columns_.of(rank);
    const auto lane = columns_.at(place.column - step.distance, place.place - further(step));
    if (!lane) return std::nullopt;
    const std::int64_t there = where().node_of(*lane), z = lane->index - where().first_rank(there);
    if (z >= lanes_.turns.lanes) return std::nullopt;
    return Lane{there, z};
  }
  std::int64_t further(const Step& step) const { return lanes_.shift + step.turn * lanes_.turns.lanes; }

  std::int64_t sent(Rank from, std::int64_t, std::int64_t number) const override {
    return lanes_.time(number, columns_.of(from).place, 0);
  }
  std::int64_t published(const Node& node, std::int64_t own, std::int64_t, std::int64_t number,
                         std::int64_t slot) const override {
    return lanes_.time(number, place(node, own), layout(node, own, number).publications.at(slot));
  }
  std::int64_t read(const Node& node, std::int64_t own, std::int64_t, std::int64_t number,
                    std::int64_t slot) const override {
    number += kReadLater;
    return lanes_.time(number, place(node, own), layout(node, own, number).readings.at(slot));
  }
  std::int64_t place(const Node& node, std::int64_t own) const { return columns_.of(node.ranks.rank(own)).place; }
  const StepSlots& layout(const Node& node, std::int64_t own, std::int64_t number) const {
    const std::int64_t behind = for_all() ? 0 : kReadLater + 1;  // steps by which messages follow what is counted
    const TurnSteps& steps = lanes_.layout(number - behind);
    return own < node.working ? steps.lane : steps.other;
  }

  Columns columns_;  ///< they may refer to where()
  FirstLanes lanes_;
};

/// Finds steps with so many lanes.
class StepsOfLanes {
 public:
  StepsOfLanes(const Cluster& cluster, const Problem& problem, std::int64_t lanes, const Columns& columns)
      : cluster_(cluster), for_all_(problem.kind == Kind::allgather), m_(lanes), w_(columns.length()),
        turns_(lane_turns(cluster, problem, lanes, w_, columns.nearest(), columns.count())) {}

  std::optional<FirstLanes> find() const {
    const LogP& machine = cluster_.base;
    const Nodes& nodes = cluster_.nodes;
    const std::int64_t o = machine.o.ticks, p = nodes.publish.ticks, r = nodes.read.ticks;
    const std::int64_t of_lane = publications(true) * p + readings(true) * r;
    const std::int64_t of_other = publications(false) * p + readings(false) * r;
    const std::int64_t least = std::max({machine.gap().ticks, w_ * nodes.gamma.ticks, 2 * o + of_lane,
                                         (for_all_ ? o : 2 * o) + of_other, std::int64_t{1}});
    const std::int64_t stride = std::max<std::int64_t>(1, least / kLengthsTried);
    for (std::int64_t length = least; length <= 2 * least; length += stride) {
      for (std::int64_t i = 0; i < std::min(kShifts, w_); ++i) {
        if (auto found = steps(length, i * w_ / std::min(kShifts, w_))) return found;
      }
    }
    return std::nullopt;
  }

 private:
  std::int64_t publications(bool lane) const { return for_all_ ? (lane ? 1 : 0) : lane ? m_ - 1 : m_; }
  std::int64_t readings(bool lane) const {
    if (for_all_) return lane ? m_ - 1 : m_;
    return lane ? cluster_.nodes.largest() - 1 : 0;
  }

  std::optional<FirstLanes> steps(std::int64_t length, std::int64_t shift) const {
    const std::int64_t there = (cluster_.base.L + cluster_.base.o).ticks, o = cluster_.base.o.ticks;
    FirstLanes found{.turns = turns_, .length = length, .shift = shift, .clocks = {w_, length}, .layouts = {}};
    found.turns.pause = divide_up(there + o, length) + 2;
    for (std::int64_t turn = 0; turn < turns_.count; ++turn) {
      // From the receiver on its sender is so many places further, or so many before.
      const std::int64_t further = modulo(for_all_ ? shift + turn * m_ : -(shift + turn * m_), w_);
      const std::int64_t rounded = static_cast<WideTicks>(further) * length % w_ == 0 ? 0 : 1;
      const Receiving receiving{modulo(there + found.clocks.offset(further), length), o + rounded};
      const auto lane = step_slots(cluster_, length, receiving, publications(true), readings(true));
      const auto other =
          step_slots(cluster_, length, for_all_ ? Receiving{o, 0} : receiving, publications(false), readings(false));
      if (!lane || !other) return std::nullopt;
      found.layouts.push_back({*lane, *other});
    }
    return found;
  }

  const Cluster& cluster_;
  bool for_all_;
  std::int64_t m_, w_;
  LaneTurns turns_;
};

}  // namespace

PlanPtr exchange_by_first_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  const auto nodes = std::make_shared<const NodeIndex>(cluster.nodes);
  const std::int64_t smallest = cluster.nodes.smallest(), largest = nodes->largest();
  Earliest best;
  const auto offer = [&](std::int64_t lanes, const Columns& columns) {
    if (divide_up(columns.length(), lanes) > kMostTurns) return;
    const auto steps = StepsOfLanes(cluster, problem, lanes, columns).find();
    if (!steps) return;
    const auto [begin, finish] = behind_turns(cluster, problem, steps->turns, steps->length);
    if (finish >= best.before().ticks) return;
    const Claim claim{
        Time{static_cast<std::int64_t>(finish)}, bound.time, bound.source,
        fmt::format("{} lane{} a node {}, in {} turn{} of steps of {}, {} of {}", lanes, lanes == 1 ? "" : "s",
                    problem.kind == Kind::allgather ? "get all items; boards hand out" : "fold and send",
                    steps->turns.count, steps->turns.count == 1 ? "" : "s", steps->length,
                    columns.are_nodes() ? "as if nodes were" : "in columns", columns.length())};
    best.offer(std::make_shared<ExchangeByFirstLanes>(cluster, problem, claim, nodes, columns, *steps,
                                                      static_cast<std::int64_t>(begin)));
  };
  std::set<std::int64_t> numbers;
  for (std::int64_t m = smallest; m > 0; m /= 2) numbers.insert(m);
  for (std::int64_t parts = divide_up(largest, smallest); parts <= 8 * divide_up(largest, smallest); parts *= 2)
    numbers.insert(divide_up(largest, parts));
  for (const std::int64_t lanes : numbers) {
    if (lanes > smallest) continue;
    offer(lanes, Columns::in_order(*nodes, divide_up(largest, lanes) * lanes));
    if (nodes->count() <= 2 * nodes->ranks() / largest) offer(lanes, Columns::of_nodes(*nodes));
  }
  return best.plan();
}

}  // namespace chasqui::plan
