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

/// When what happens. Step s is s - begin(turn) steps into its turn; between turns all that is under way arrives.
struct FirstLanes {
  std::int64_t lanes = 0;                ///< m
  std::int64_t length = 0;               ///< of a step
  std::int64_t shift = 0;                ///< places by which the first turn goes further
  std::int64_t messages = 0, pause = 0;  ///< steps of a turn with messages, and without
  Clocks clocks;
  std::vector<TurnSteps> turns;

  std::int64_t count() const { return static_cast<std::int64_t>(turns.size()); }
  std::int64_t begin(std::int64_t turn) const { return turn * (messages + pause); }
  /// By whose layout a rank works in a step of its own: receptions may come in the step before that in which they were sent.
  const TurnSteps& layout(std::int64_t step) const {
    return turns[static_cast<std::size_t>(std::clamp<std::int64_t>((step + 1) / (messages + pause), 0, count() - 1))];
  }
  std::int64_t time(std::int64_t step, std::int64_t place, std::int64_t in_step) const {
    return step * length + clocks.offset(place) + in_step;
  }
};

/// From the end of a step in which something was published on any clock it can be read on all.
constexpr std::int64_t kReadLater = 2;

class ExchangeByFirstLanes final : public Plan {
 public:
  ExchangeByFirstLanes(const Cluster& cluster, const Problem& problem, Claim claim,
                       std::shared_ptr<const NodeIndex> nodes, const Columns& columns, FirstLanes lanes,
                       std::int64_t own)
      : Plan(cluster, problem, std::move(claim)), items_(cluster, problem), index_(std::move(nodes)), where_(*index_),
        columns_(columns), lanes_(std::move(lanes)), own_(own) {}

  LocalForm local(Rank rank) const override {
    const OneNode node = node_of(rank);
    const std::int64_t own = rank.index - node.first, m = lanes_.lanes;
    const WideTicks steps = static_cast<WideTicks>(lanes_.count()) * lanes_.messages;
    const std::int64_t shared = (items_.for_all() ? 1 : m) + (items_.for_all() ? m : node.n);
    require_own_exchange(rank, steps * (2 + shared) + static_cast<WideTicks>(items_.k) * 2 * node.n);
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    for_steps([&](const Step& step) {
      for (std::int64_t z = 0; z < m; ++z) {
        const auto other = partner(node, z, step);
        if (!other) continue;
        if (z == own) (items_.for_all() ? form.receives : form.sends).push_back(message(node, z, *other, step));
        add_board(node, z, *other, step, own, form.publications, form.readings);
      }
      // The rank of another node whose lane deals with this one.
      const Columns::Place place = columns_.of(rank);
      const auto lane = columns_.at(place.column - step.distance, place.place - further(step));
      if (!lane) return;
      const OneNode there = node_of(*lane);
      const std::int64_t z = lane->index - there.first;
      if (z >= m || partner(there, z, step) != rank) return;
      (items_.for_all() ? form.sends : form.receives).push_back(message(there, z, rank, step));
    });
    add_own(node, board(node), own, own_items(items_, node), form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t P = machine_.P, each = saturating_multiply(items_.k, P);  // every rank hears of every other one
    require_listable({machine_, nodes_}, problem_, saturating_multiply(P, saturating_multiply(2, each)));
    Schedule s = empty_schedule();
    for (std::int64_t at = 0; at < where_.count(); ++at) {
      const OneNode node = node_at(at);
      for_steps([&](const Step& step) {
        for (std::int64_t z = 0; z < lanes_.lanes; ++z) {
          const auto other = partner(node, z, step);
          if (!other) continue;
          s.sends.push_back(message(node, z, *other, step));
          for (std::int64_t own = 0; own < node.n; ++own)
            add_board(node, z, *other, step, own, s.publications, s.readings);
        }
      });
      add_node(node, board(node), own_items(items_, node), s);
    }
    normalise(s);
    return s;
  }

 private:
  /// Of all ranks, `distance` columns further on, in item number i.
  struct Step {
    std::int64_t turn, number, distance, i;
  };
  template <typename Visit>
  void for_steps(const Visit& visit) const {
    for (std::int64_t turn = 0; turn < lanes_.count(); ++turn) {
      std::int64_t number = lanes_.begin(turn);
      for (std::int64_t i = 0; i < items_.k; ++i) {
        for (std::int64_t d = columns_.nearest(); d < columns_.count(); ++d) visit(Step{turn, number++, d, i});
      }
    }
  }
  std::int64_t further(const Step& step) const { return lanes_.shift + step.turn * lanes_.lanes; }

  OneNode node_at(std::int64_t node) const { return {where_.first_rank(node), where_.size(node), items_.for_all()}; }
  OneNode node_of(Rank rank) const { return node_at(where_.node_of(rank)); }

  /// Whom lane z of the node deals with in a step, if anybody: in the last turn those that were dealt with in the first are left out.
  std::optional<Rank> partner(const OneNode& node, std::int64_t z, const Step& step) const {
    if (step.turn * lanes_.lanes + z >= columns_.length()) return std::nullopt;
    const Columns::Place place = columns_.of(node.rank(z));
    const auto rank = columns_.at(place.column + step.distance, place.place + further(step));
    if (!rank || (rank->index >= node.first && rank->index < node.first + node.n)) return std::nullopt;
    return rank;
  }
  /// From the rank to the lane, or back. A reduce-scatter has folded first.
  Send message(const OneNode& node, std::int64_t z, Rank other, const Step& step) const {
    const Rank lane = node.rank(z), from = items_.for_all() ? other : lane, to = items_.for_all() ? lane : other;
    const std::int64_t number = step.number + (items_.for_all() ? 0 : kReadLater + 1);
    const auto [part, second] = items_.item(from, to, step.i);
    return {Time{lanes_.time(number, columns_.of(from).place, 0)}, from, to, part, second};
  }
  /// What rank `own` of the node does on the board about a message of lane z.
  void add_board(const OneNode& node, std::int64_t z, Rank other, const Step& step, std::int64_t own,
                 std::vector<Publication>& publications, std::vector<Reading>& readings) const {
    if (node.n == 1) return;
    const std::int64_t m = lanes_.lanes, place = columns_.of(node.rank(own)).place;
    const std::int64_t among_lanes = own < m ? modulo(z - own - 1, m) : z;  // in which order it looks at the lanes
    const auto layout = [&](std::int64_t number) -> const StepSlots& {
      const TurnSteps& steps = lanes_.layout(number - later());
      return own < m ? steps.lane : steps.other;
    };
    const auto publish = [&](std::int64_t number, std::int64_t slot, Rank to) {
      const auto [part, second] = items_.item(items_.for_all() ? other : node.rank(own), to, step.i);
      publications.push_back(
          {Time{lanes_.time(number, place, layout(number).publications.at(slot))}, node.rank(own), part, second});
    };
    const auto read = [&](std::int64_t number, std::int64_t slot, std::int64_t from, Rank origin, Rank to) {
      const auto [part, second] = items_.item(origin, to, step.i);
      readings.push_back({Time{lanes_.time(number, place, layout(number).readings.at(slot))}, node.rank(own),
                          node.rank(from), part, second});
    };
    if (items_.for_all()) {  // the lane publishes what came, all others read it
      const std::int64_t published = step.number + lanes_.pause - 1;
      if (own == z) publish(published, 0, other);
      else read(published + kReadLater, among_lanes, z, other, other);
    } else if (own != z) {  // all others publish what the lane folds
      publish(step.number, among_lanes, other);
    } else {
      for (std::int64_t i = 1; i < node.n; ++i) read(step.number + kReadLater, i - 1, z + i, node.rank(z + i), other);
    }
  }
  /// Steps by which messages are behind the steps that are counted.
  std::int64_t later() const { return items_.for_all() ? 0 : kReadLater + 1; }
  /// Behind all that concerns other nodes.
  BoardSteps board(const OneNode& node) const { return board_alone(node, items_.k, nodes_, own_); }

  ExchangeItems items_;
  std::shared_ptr<const NodeIndex> index_;  ///< which the columns may refer to
  const NodeIndex& where_;
  Columns columns_;
  FirstLanes lanes_;
  std::int64_t own_;  ///< when the own nodes' items begin
};

/// Finds steps with so many lanes.
class StepsOfLanes {
 public:
  StepsOfLanes(const Cluster& cluster, const Problem& problem, std::int64_t lanes, const Columns& columns)
      : cluster_(cluster), for_all_(problem.kind == Kind::allgather), m_(lanes), w_(columns.length()),
        turns_(divide_up(w_, lanes)),
        messages_(
            countable(static_cast<WideTicks>(columns.count() - columns.nearest()) * problem.items, cluster, problem)) {}

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
    FirstLanes found{.lanes = m_,
                     .length = length,
                     .shift = shift,
                     .messages = messages_,
                     .pause = divide_up(there + o, length) + 2,
                     .clocks = {w_, length},
                     .turns = {}};
    for (std::int64_t turn = 0; turn < turns_; ++turn) {
      // From the receiver on its sender is so many places further, or so many before.
      const std::int64_t further = modulo(for_all_ ? shift + turn * m_ : -(shift + turn * m_), w_);
      const std::int64_t rounded = static_cast<WideTicks>(further) * length % w_ == 0 ? 0 : 1;
      const Receiving receiving{modulo(there + found.clocks.offset(further), length), o + rounded};
      const auto lane = step_slots(cluster_, length, receiving, publications(true), readings(true));
      const auto other =
          step_slots(cluster_, length, for_all_ ? Receiving{o, 0} : receiving, publications(false), readings(false));
      if (!lane || !other) return std::nullopt;
      found.turns.push_back({*lane, *other});
    }
    return found;
  }

  const Cluster& cluster_;
  bool for_all_;
  std::int64_t m_, w_, turns_, messages_;
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
    const WideTicks last = WideTicks{steps->begin(steps->count())} + 2 * kReadLater + 2;
    const OneNode widest{0, largest, problem.kind == Kind::allgather};
    const WideTicks begin = last * steps->length + cluster.base.lambda().ticks;
    const WideTicks alone = static_cast<WideTicks>(board_alone(widest, problem.items, cluster.nodes, 0).length);
    const WideTicks finish = begin + alone * problem.items;
    if (finish >= best.before().ticks) return;
    const Claim claim{
        Time{static_cast<std::int64_t>(finish)}, bound.time, bound.source,
        fmt::format("{} lane{} a node {}, in {} turn{} of steps of {}, {} of {}", lanes, lanes == 1 ? "" : "s",
                    problem.kind == Kind::allgather ? "get all items; boards hand out" : "fold and send",
                    steps->count(), steps->count() == 1 ? "" : "s", steps->length,
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
