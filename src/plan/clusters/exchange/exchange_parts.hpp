// SPDX-License-Identifier: MIT
// What the exchanges in closed form share: how items are called, the clocks of the ranks of a node, and what they hand each
// other on the board in steps (docs/clusters.md, Theorem 29).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/plan/plan.hpp"
#include "plan/clusters/exchange/step_layout.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {

__extension__ using WideTicks = __int128;

/// Whose item is which, on nodes of any size.
struct ExchangeItems {
  Kind kind;
  std::int64_t P, k;

  ExchangeItems(const Cluster& cluster, const Problem& problem)
      : kind(problem.kind), P(cluster.base.P), k(problem.items) {}

  /// Item number i of those that `from` has for `to`: an all-gather looks at the first only, a reduce-scatter at the second. An all-to-all of many
  /// ranks has more items than one number can hold: see Send::item_number.
  std::pair<Part, Part> item(Rank from, Rank to, std::int64_t i) const {
    constexpr std::int64_t kWord = std::int64_t{1} << 31;
    std::int64_t pair = kind == Kind::reduce_scatter ? to.index : from.index;
    if (kind == Kind::alltoall) pair = pair * P + to.index;
    const std::int64_t item = pair * k + i;
    return {Part{static_cast<std::int32_t>(item % kWord), 1}, Part{static_cast<std::int32_t>(item / kWord), 0}};
  }
  /// In an all-gather everybody reads what one publishes; otherwise it is for one of them.
  bool for_all() const { return kind == Kind::allgather; }
};

/// The ranks of one node and its board.
struct OneNode {
  std::int64_t first, n;
  bool for_all;

  /// Counted around the end of the node.
  Rank rank(std::int64_t lane) const { return {static_cast<std::int32_t>(first + modulo(lane, n))}; }
  /// Publications of a rank for each of which all others of the node read once.
  std::int64_t publications() const { return for_all ? std::min<std::int64_t>(1, n - 1) : n - 1; }
};

/// The own items of a node, by what add_own and add_node ask for.
inline auto own_items(const ExchangeItems& items, const OneNode& node) {
  return [&items, node](std::int64_t i, std::int64_t publisher, std::int64_t reader) {
    return items.item(node.rank(publisher), node.rank(reader), i);
  };
}

/// Who is who on equal nodes.
struct EqualExchange : ExchangeItems {
  std::int64_t N, n;

  EqualExchange(const Cluster& cluster, const Problem& problem)
      : ExchangeItems(cluster, problem), N(cluster.nodes.count()), n(cluster.nodes.largest()) {}

  /// Counted around the end, of the nodes and of the node.
  OneNode node(std::int64_t at) const { return {modulo(at, N) * n, n, for_all()}; }
  Rank rank(std::int64_t at, std::int64_t lane) const { return node(at).rank(lane); }
};

/// The clocks of the ranks of a node lie within a span, as far apart as it allows.
struct Clocks {
  std::int64_t n = 1, span = 0;

  std::int64_t offset(std::int64_t lane) const {
    return static_cast<std::int64_t>(static_cast<WideTicks>(lane) * span / n);
  }
  std::int64_t last() const { return offset(n - 1); }
};

/// In step t each rank of a node publishes something, for all others or for each of them, and reads what they published.
struct BoardSteps {
  std::int64_t begin = 0;   ///< of step 0, on the first clock
  std::int64_t length = 0;  ///< ticks from one step to the next
  std::int64_t late = 0;    ///< what is read is so much older: a multiple of the length
  std::int64_t later = 0;   ///< so many slots for readings come too early in their step and serve the step before
  std::int64_t count = 0;   ///< steps
  Slots publications, readings;
  Clocks clocks;

  std::int64_t publication(std::int64_t lane, std::int64_t t, std::int64_t slot) const {
    return begin + t * length + publications.at(slot) + clocks.offset(lane);
  }
  std::int64_t reading(std::int64_t lane, std::int64_t t, std::int64_t slot) const {
    return begin + t * length + since_step(slot) + clocks.offset(lane);
  }
  /// Reads what is published up to then, counted from the begin of a step on any clock of the node, as soon as possible.
  void read_from(std::int64_t published) {
    late = published / length * length;
    std::int64_t none = 0, all = clocks.n - 1;  // slots that begin before that, none or all of them
    while (none < all) {
      const std::int64_t middle = none + (all - none) / 2;
      if (readings.at(middle) < published - late) none = middle + 1;
      else all = middle;
    }
    later = none;
  }
  /// When everything of a step has been read, counted from its begin.
  std::int64_t all_read() const { return since_step(clocks.n - 2) + readings.each; }
  /// When the last reading has ended. REQUIRES n > 1, count > 0.
  std::int64_t end() const { return begin + (count - 1) * length + all_read() + clocks.last(); }

 private:
  std::int64_t since_step(std::int64_t slot) const {
    const std::int64_t turned = slot + later, slots = clocks.n - 1;
    return late + (turned < slots ? readings.at(turned) : readings.at(turned - slots) + length);
  }
};

/// Throws an Error where a plan would take longer than times can say.
inline std::int64_t countable(WideTicks ticks, const Cluster& cluster, const Problem& problem) {
  if (ticks <= kMaxTime) return static_cast<std::int64_t>(ticks);
  throw Error("{} of {} items on {} takes more than {} ticks: take a coarser unit of time, or ask for less",
              to_string(problem.kind), problem.items, to_string(cluster), kMaxTime);
}

/// The same for one step of any kind: what follows may add such times without looking.
inline void require_countable_step(const Cluster& cluster, const Problem& problem) {
  const Nodes& nodes = cluster.nodes;
  const WideTicks lane = WideTicks{nodes.gamma.ticks} + 2 * (nodes.publish + nodes.read).ticks;
  countable(16 * (lane * nodes.largest() + cluster.base.gap().ticks + cluster.base.lambda().ticks), cluster, problem);
}

/// Throws an Error where a rank has too much to do to list it.
inline void require_own_exchange(Rank rank, WideTicks events) {
  const auto many = static_cast<std::int64_t>(std::min<WideTicks>(events, kSaturated));
  require_own_list(rank, many, "ask for the claim, or for fewer nodes or items");
}

/// Nothing but the board: the own node's items, from `begin` on. The clocks are equal, and there is no pause.
inline BoardSteps board_alone(const OneNode& node, std::int64_t items, const Nodes& nodes, std::int64_t begin) {
  const std::int64_t publications = node.publications(), p = nodes.publish.ticks, r = nodes.read.ticks;
  BoardSteps steps{.begin = begin,
                   .length = publications * p + (node.n - 1) * r,
                   .count = node.n > 1 ? items : 0,
                   .publications = {.each = p},
                   .readings = {.second = publications * p, .each = r},
                   .clocks = {.n = node.n}};
  return steps;
}

/// What a rank does in such steps. name(t, publisher, reader) is the item, given lanes.
template <typename Name>
void add_own(const OneNode& node, const BoardSteps& steps, std::int64_t lane, const Name& name, LocalForm& form) {
  for (std::int64_t t = 0; t < steps.count; ++t) {
    for (std::int64_t slot = 0; slot < node.publications(); ++slot) {
      const auto [part, second] = name(t, lane, modulo(lane + 1 + slot, node.n));
      form.publications.push_back({Time{steps.publication(lane, t, slot)}, form.rank, part, second});
    }
    for (std::int64_t slot = 0; slot < node.n - 1; ++slot) {
      const std::int64_t from = modulo(lane + 1 + slot, node.n);
      const auto [part, second] = name(t, from, lane);
      form.readings.push_back({Time{steps.reading(lane, t, slot)}, form.rank, node.rank(from), part, second});
    }
  }
}

/// What all ranks of a node do: each publication, and then who reads it.
template <typename Name>
void add_node(const OneNode& node, const BoardSteps& steps, const Name& name, Schedule& s) {
  for (std::int64_t t = 0; t < steps.count; ++t) {
    for (std::int64_t from = 0; from < node.n; ++from) {
      for (std::int64_t to = 0; to < node.n; ++to) {
        if (to == from) continue;
        const auto [part, second] = name(t, from, to);
        const std::int64_t slot = node.for_all ? 0 : modulo(to - from - 1, node.n);
        if (!node.for_all || to == modulo(from + 1, node.n))
          s.publications.push_back({Time{steps.publication(from, t, slot)}, node.rank(from), part, second});
        const Time begin{steps.reading(to, t, modulo(from - to - 1, node.n))};
        s.readings.push_back({begin, node.rank(to), node.rank(from), part, second});
      }
    }
  }
}

}  // namespace chasqui::plan
