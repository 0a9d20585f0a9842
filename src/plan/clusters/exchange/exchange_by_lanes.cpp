// SPDX-License-Identifier: MIT
// clusters.md, Theorem 29, first part. Steps are counted on a rank's own clock; all ranks of a lane have the same one.
#include "plan/clusters/exchange/exchange_by_lanes.hpp"

#include <algorithm>
#include <optional>

#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kLengths = 64;

/// A step in which lane x of a node sends to lane x + shift of another one.
struct LaneStep {
  StepSlots layout;
  Clocks clocks;
  std::int64_t shift = 0;
  std::int64_t arrival = 0;  ///< what is sent at the begin of step 0 is there by then, on the clock of whoever gets it
};

/// Clocks that are spread over all of the step let a reception begin nearly anywhere: whoever receives is `shift` places later.
std::optional<LaneStep> shifted_step(const Cluster& cluster, std::int64_t length, std::int64_t publications,
                                     std::int64_t readings) {
  const std::int64_t n = cluster.nodes.largest(), o = cluster.base.o.ticks;
  const std::int64_t there = (cluster.base.L + cluster.base.o).ticks, phase = there % length;
  const Clocks clocks{n, length};
  const auto most = static_cast<std::int64_t>(static_cast<WideTicks>(modulo(phase - o, length)) * n / length);
  for (std::int64_t shift = most; shift > 0 && shift + 1 >= most; --shift) {
    const std::int64_t back = clocks.offset(shift);  // or one tick more: places are whole ticks
    const std::int64_t rounded = static_cast<WideTicks>(shift) * length % n == 0 ? 0 : 1;
    const Receiving receiving{modulo(phase - back - rounded, length), o + rounded};
    if (const auto layout = step_slots(cluster, length, receiving, publications, readings))
      return LaneStep{*layout, clocks, shift, there + length - back + o};
  }
  return std::nullopt;
}

LaneStep lane_step(const Cluster& cluster, std::int64_t publications, std::int64_t readings) {
  const LogP& machine = cluster.base;
  const Nodes& nodes = cluster.nodes;
  const std::int64_t n = nodes.largest(), o = machine.o.ticks, together = n * nodes.gamma.ticks;
  const std::int64_t least = std::max({machine.gap().ticks, together, 2 * o});
  const StepSlots straight = short_step(cluster, least, publications, readings);
  const std::int64_t work = 2 * o + publications * nodes.publish.ticks + readings * nodes.read.ticks;
  const std::int64_t shortest = std::max(least, work);
  const std::int64_t stride = std::max<std::int64_t>(1, (straight.length - shortest) / kLengths);
  for (std::int64_t length = shortest; length < straight.length; length += stride) {
    if (const auto step = shifted_step(cluster, length, publications, readings)) return *step;
  }
  return {straight, {n, together}, 0, machine.lambda().ticks};
}

/// When what happens.
struct LaneTimes {
  LaneStep step;
  std::int64_t sends = 0;  ///< begin of the first step in which everybody sends
  BoardSteps foreign;      ///< what comes from other nodes, or goes there
  BoardSteps own;          ///< the own node's items
  std::int64_t finish = 0;
};

/// With the own node's items in the same steps, `beside` the others, or where there is time.
LaneTimes lane_times(const Cluster& cluster, const Problem& problem, bool beside) {
  const EqualExchange e(cluster, problem);
  const std::int64_t sets = beside ? 2 : 1, publications = sets * e.node(0).publications(), readings = sets * (e.n - 1);
  LaneTimes times{.step = lane_step(cluster, publications, readings), .foreign = {}, .own = {}};
  const auto& [layout, clocks, shift, arrival] = times.step;
  const std::int64_t length = layout.length, lambda = cluster.base.lambda().ticks;
  const WideTicks steps = static_cast<WideTicks>(e.N - 1) * e.k;
  const WideTicks alone = static_cast<WideTicks>(board_alone(e.node(0), e.k, cluster.nodes, 0).length) * e.k;
  countable((steps + 8) * length + 4 * WideTicks{lambda} + alone, cluster, problem);
  const auto count = static_cast<std::int64_t>(steps);
  if (e.n == 1) {
    times.finish = (count - 1) * length + lambda;
    return times;
  }
  const auto steps_of = [&](std::int64_t ticks) { return ticks <= 0 ? 0 : divide_up(ticks, length); };
  const std::int64_t p = cluster.nodes.publish.ticks, set = e.node(0).publications();
  times.foreign = {.length = length,
                   .count = count,
                   .publications = layout.publications,
                   .readings = layout.readings,
                   .clocks = clocks};
  times.own = times.foreign;
  times.own.count = e.k;
  if (e.for_all()) {  // what has come is published in the last of the slots
    times.foreign.publications = layout.publications.from(publications - 1);
    times.foreign.begin = steps_of(arrival - times.foreign.publications.at(0)) * length;
  }
  times.foreign.read_from(times.foreign.publications.at(set - 1) + p + clocks.last());
  if (!e.for_all()) times.sends = steps_of(times.foreign.all_read()) * length;
  const std::int64_t sent = times.sends + (count - 1) * length + clocks.last();
  times.finish = std::max(sent + lambda, times.foreign.end());
  if (beside) {
    times.own.readings = layout.readings.from(e.n - 1);
    if (!e.for_all()) times.own.publications = layout.publications.from(set);
    times.own.read_from(times.own.publications.at(set - 1) + p + clocks.last());
  } else if (times.foreign.begin / length >= e.k) {  // before anything comes
    times.own = times.foreign;
    times.own.begin -= e.k * length;
    times.own.count = e.k;
  } else {
    times.own = board_alone(e.node(0), e.k, cluster.nodes, times.finish);
  }
  times.finish = std::max(times.finish, times.own.end());
  return times;
}

class ExchangeByLanes final : public Plan {
 public:
  ExchangeByLanes(const Cluster& cluster, const Problem& problem, Claim claim, const LaneTimes& times)
      : Plan(cluster, problem, std::move(claim)), e_(cluster, problem), times_(times) {}

  LocalForm local(Rank rank) const override {
    const WideTicks steps = static_cast<WideTicks>(e_.N - 1) * e_.k;
    require_own_exchange(rank, 2 * steps + (steps + e_.k) * (e_.node(0).publications() + e_.n - 1));
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = rank.index / e_.n, lane = rank.index % e_.n;
    for (std::int64_t t = 0; t < e_.k * (e_.N - 1); ++t) {
      form.sends.push_back(message(t, node, lane));
      form.receives.push_back(message(t, node - distance(t), lane - times_.step.shift));
    }
    const auto name = [&](std::int64_t t, std::int64_t from, std::int64_t to) { return foreign(node, t, from, to); };
    add_own(e_.node(node), times_.foreign, lane, name, form);
    add_own(e_.node(node), times_.own, lane, own_items(e_, e_.node(node)), form);
    return in_order(std::move(form));
  }

  Schedule schedule() const override {
    const std::int64_t each = saturating_multiply(e_.n, saturating_multiply(e_.k, e_.N));
    const std::int64_t events = saturating_multiply(each, 1 + e_.node(0).publications() + e_.n - 1);
    require_listable({machine_, nodes_}, problem_, saturating_multiply(events, e_.N));
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < e_.N; ++node) {
      for (std::int64_t t = 0; t < e_.k * (e_.N - 1); ++t) {
        for (std::int64_t lane = 0; lane < e_.n; ++lane) s.sends.push_back(message(t, node, lane));
      }
      const auto name = [&](std::int64_t t, std::int64_t from, std::int64_t to) { return foreign(node, t, from, to); };
      add_node(e_.node(node), times_.foreign, name, s);
      add_node(e_.node(node), times_.own, own_items(e_, e_.node(node)), s);
    }
    normalise(s);
    return s;
  }

 private:
  std::int64_t distance(std::int64_t t) const { return t % (e_.N - 1) + 1; }
  std::int64_t number(std::int64_t t) const { return t / (e_.N - 1); }

  Send message(std::int64_t t, std::int64_t node, std::int64_t lane) const {
    const Rank from = e_.rank(node, lane), to = e_.rank(node + distance(t), lane + times_.step.shift);
    const Clocks& clocks = times_.step.clocks;
    const std::int64_t begin = times_.sends + t * times_.step.layout.length + clocks.offset(modulo(lane, e_.n));
    const auto [part, second] = e_.item(from, to, number(t));
    return {Time{begin}, from, to, part, second};
  }
  /// What is published in step t: what the publisher got, or what the reader will send.
  std::pair<Part, Part> foreign(std::int64_t node, std::int64_t t, std::int64_t publisher, std::int64_t reader) const {
    const Rank from = e_.rank(node - distance(t), publisher - times_.step.shift);
    return e_.item(from, e_.rank(node + distance(t), reader + times_.step.shift), number(t));
  }

  EqualExchange e_;
  LaneTimes times_;
};

}  // namespace

PlanPtr exchange_by_lanes(const Cluster& cluster, const Problem& problem, const Bound& bound) {
  require_countable_step(cluster, problem);
  LaneTimes times = lane_times(cluster, problem, false);
  if (cluster.nodes.largest() > 1) {
    const LaneTimes both = lane_times(cluster, problem, true);
    if (both.finish < times.finish) times = both;
  }
  const std::int64_t shift = times.step.shift;
  std::string how = problem.kind == Kind::reduce_scatter ? "a lane of every node folds and sends"
                                                         : "every rank to its lane of every node; boards hand out";
  how += fmt::format(", in steps of {}", times.step.layout.length);
  if (shift > 0) how += fmt::format(", {} lane{} further on", shift, shift == 1 ? "" : "s");
  const Claim claim{Time{times.finish}, bound.time, bound.source, how};
  return std::make_shared<ExchangeByLanes>(cluster, problem, claim, times);
}

}  // namespace chasqui::plan
