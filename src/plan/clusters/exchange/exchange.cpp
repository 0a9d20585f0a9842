// SPDX-License-Identifier: MIT
// All-gather, reduce-scatter and all-to-all, each message one item (clusters.md, Theorem 17).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/base/in_words.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/exchange/exchange_by_first_lanes.hpp"
#include "plan/clusters/exchange/exchange_by_lanes.hpp"
#include "plan/clusters/exchange/exchange_by_node_lanes.hpp"
#include "plan/clusters/exchange/exchange_in_columns.hpp"
#include "plan/clusters/exchange/exchange_in_step.hpp"
#include "plan/clusters/exchange/exchange_in_turns.hpp"
#include "plan/clusters/exchange/exchange_parts.hpp"
#include "plan/clusters/hand_out.hpp"
#include "plan/clusters/timetable.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

/// Items times their receivers: up to here an exchange is also planned for all nodes, one event after another.
constexpr std::int64_t kMostExchanged = 250'000;
/// Where the closed form ends later than its bound by more than its kFar-th part, all that can be listed is.
constexpr std::int64_t kFar = 10;

/// For k items; a bound that times cannot say is cut to the largest that they can.
std::int64_t for_items(WideTicks ticks, std::int64_t k) {
  return ticks > kMaxTime / k ? kMaxTime : static_cast<std::int64_t>(ticks * k);
}

/// clusters.md, Theorem 17: k(P-1) items are handed to every rank on average, by a message or by what a board costs, and there is a limit to messages.
std::int64_t handed_over_bound(const Cluster& c, std::int64_t k, std::int64_t board) {
  const WideTicks P = c.base.P, o = c.base.o.ticks, G = c.base.gap().ticks, gamma = c.nodes.gamma.ticks;
  const std::int64_t lambda = c.base.lambda().ticks;
  if (board <= 2 * o || c.nodes.count() == 1 || k > kMaxTime / P) return 0;
  const WideTicks items = P * (P - 1) * k;
  const auto enough = [&](std::int64_t T) {
    WideTicks messages = T < lambda ? 0 : P * ((T - lambda) / G + 1);
    if (gamma > 0 && messages > 0) messages = std::min(messages, c.nodes.count() * ((T - lambda) / gamma + 1));
    const WideTicks left = items - std::min(items, messages);
    return left <= P * T / board && left * board + (items - left) * 2 * o <= P * T;
  };
  std::int64_t low = 0, high = kMaxTime;  // not enough before low
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (enough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// clusters.md, Theorem 17: the work of a rank, or of all of them together, and the adapters. All for one item; k times as much for k.
Bound exchange_bound(const Cluster& c, const Problem& problem) {
  const LogP& M = c.base;
  const Nodes& nodes = c.nodes;
  const std::int64_t k = problem.items, P = M.P, o = M.o.ticks, p = nodes.publish.ticks, r = nodes.read.ticks;
  const bool alltoall = problem.kind == Kind::alltoall;
  if (P == 1) return {Time{0}, "one processor"};
  const bool alone = nodes.count() == 1;
  WideTicks work = 0;
  std::int64_t entries = 0, share = 0, smallest = P;
  for (const Nodes::Run& run : nodes.runs) {
    const std::int64_t n = run.size, others = P - n;
    smallest = std::min(smallest, n);
    if (problem.kind == Kind::reduce_scatter) {
      const WideTicks inside = WideTicks{n - 1} * (alone ? p + r : std::min(p + r, 2 * o));
      work += run.count * (P * inside + WideTicks{others} * 2 * o);
      entries = std::max(entries, others);
      share = std::max(share, divide_up(saturating_multiply(k, others), n));
    } else if (alltoall) {
      const WideTicks inside = WideTicks{n - 1} * (alone ? p + r : std::min(p + r, 4 * o));
      work += WideTicks{run.count} * n * (WideTicks{others} * 2 * o + inside);
      entries = std::max(entries, n * others);
      share = std::max(share, saturating_multiply(k, others));
    } else {
      const WideTicks board = n == 1 ? 0 : p + WideTicks{n - 1} * r, messages = WideTicks{n - 1} * 2 * o;
      const WideTicks inside = alone ? board : std::min(board, messages);
      work += run.count * (n * inside + others * (2 * o + std::min(board, messages)));
      entries = std::max(entries, others);
      share = std::max(share, divide_up(saturating_multiply(k, others), n));
    }
  }
  // ceil(k * work / P), of which the whole part of work / P may be cut.
  const WideTicks rest = (work % P * k + P - 1) / P;
  Bound bound{Time{static_cast<std::int64_t>(std::min<WideTicks>(kMaxTime, for_items(work / P, k) + rest))},
              "the work of all ranks together"};
  const std::int64_t lambda = M.lambda().ticks;
  const auto consider = [&](WideTicks time, const char* source) {
    if (time > bound.time.ticks) bound = {Time{static_cast<std::int64_t>(std::min<WideTicks>(time, kMaxTime))}, source};
  };
  if (entries > 0) {
    WideTicks last = 0;
    if (problem.kind == Kind::allgather && nodes.uniform() && smallest > 1)
      last = std::min<WideTicks>(p + r, WideTicks{smallest - 1} * nodes.gamma.ticks);
    consider(lambda + (WideTicks{saturating_multiply(k, entries)} - 1) * nodes.gamma.ticks + last,
             "the items enter or leave a node one by one");
  }
  if (share > 0)
    consider(lambda + (WideTicks{share} - 1) * M.gap().ticks, "some rank of a node sends or receives its share");
  if (!alltoall)
    consider(handed_over_bound(c, k, problem.kind == Kind::allgather ? r : p + r),
             "what messages cannot carry is read");
  if (alone) consider(p + r, "one node: somebody must publish");
  return bound;
}

/// What a rank brings of its own to an exchange: `direct` items reach every rank by a message of their own.
Schedule exchange_schedule(const Cluster& c, const Problem& problem, Lanes lanes, bool direct, Time bound) {
  const NodeIndex nodes(c.nodes);
  const std::int64_t N = nodes.count(), P = c.base.P, k = problem.items;
  const bool alltoall = problem.kind == Kind::alltoall, leaders = lanes == Lanes::leaders;
  Timetable table(c, problem, saturating_multiply(saturating_multiply(P, P), k * (alltoall ? 2 : 1)));
  std::vector<Held> held;
  std::vector<Time> sent(static_cast<std::size_t>(P), Time{0});  // a rank's last send: the next one is not earlier
  const auto item_of = [&](Rank from, Rank to, std::int64_t i) {
    return alltoall ? (std::int64_t{from.index} * P + to.index) * k + i : from.index * k + i;
  };
  // A leader has what its node brings once it has read it.
  const auto at_leader = [&](Rank from, Rank leader, std::int64_t item) {
    if (from == leader) return Time{0};
    return table.read(leader, from, item_part(item), table.publish(from, item_part(item), Time{0}));
  };
  std::vector<Time> known(leaders && !alltoall ? static_cast<std::size_t>(P * k) : 0, Time{0});
  for (std::size_t x = 0; x < known.size(); ++x) {
    const Rank from{static_cast<std::int32_t>(static_cast<std::int64_t>(x) / k)};
    known[x] = at_leader(from, rank_at(nodes, table.node_of(from), 0), static_cast<std::int64_t>(x));
  }
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t d = 1; d < N; ++d) {
      const std::int64_t turns = alltoall || direct ? nodes.largest() : 1;
      for (std::int64_t turn = 0; turn < turns; ++turn) {
        for (std::int64_t lane = 0; lane < nodes.largest(); ++lane) {
          for (std::int64_t node = 0; node < N; ++node) {
            const std::int64_t there = (node + d) % N;
            if (lane >= nodes.size(node) || turn >= nodes.size(there)) continue;
            const Rank from = rank_at(nodes, node, lane), to = rank_at(nodes, there, lane + turn);
            const Rank by = leaders ? rank_at(nodes, node, 0) : from;
            const Rank entry = leaders ? rank_at(nodes, there, 0) : to;
            const std::int64_t item = item_of(from, to, i);
            const Time since = !leaders   ? Time{0}
                               : alltoall ? at_leader(from, by, item)
                                          : known[static_cast<std::size_t>(item)];
            Time& last = sent[static_cast<std::size_t>(by.index)];
            const Time arrived = table.send(by, entry, item_part(item), std::max(since, last));
            last = arrived - c.base.lambda();
            if (!direct) held.push_back({arrived, entry, item, alltoall ? to : Rank{-1}});
          }
        }
      }
    }
  }
  for (std::int32_t r = 0; r < P; ++r) {
    const std::int64_t node = table.node_of(Rank{r}), first = nodes.first_rank(node);
    for (std::int64_t i = 0; i < k; ++i) {
      if (!alltoall) {
        if (leaders && r != first) {  // published already, and read by the leader
          for (std::int64_t lane = 1; lane < nodes.size(node); ++lane) {
            const Rank reader = rank_at(nodes, node, lane);
            const Part part = item_part(item_of(Rank{r}, reader, i));
            if (reader != Rank{r}) table.read(reader, Rank{r}, part, c.nodes.publish * (i + 1));
          }
          continue;
        }
        held.push_back({Time{0}, Rank{r}, item_of(Rank{r}, Rank{r}, i)});
        continue;
      }
      for (std::int64_t lane = 0; lane < nodes.size(node); ++lane) {
        const Rank to = rank_at(nodes, node, lane);
        if (to != Rank{r}) held.push_back({Time{0}, Rank{r}, item_of(Rank{r}, to, i), to});
      }
    }
  }
  hand_out(table, std::move(held));
  return std::move(table).schedule(bound);
}

/// The ranks of a node hand what they have for another one to its lane there, which folds it and sends it on.
Schedule reduce_scatter_schedule(const Cluster& c, const Problem& problem, Lanes lanes, Time bound) {
  const NodeIndex nodes(c.nodes);
  const std::int64_t N = nodes.count(), P = c.base.P, k = problem.items;
  const bool leaders = lanes == Lanes::leaders;
  Timetable table(c, problem, saturating_multiply(saturating_multiply(P, P), 2 * k));
  std::vector<Time> ends(static_cast<std::size_t>(P), Time{0});  // of a rank's last publication: the next one is later
  const auto collect = [&](Rank at, std::int64_t item) {
    const std::int64_t node = table.node_of(at), own = at.index - nodes.first_rank(node);
    Time all{0};
    for (std::int64_t i = 1; i < nodes.size(node); ++i) {
      const Rank from = rank_at(nodes, node, own + i);
      Time& end = ends[static_cast<std::size_t>(from.index)];
      end = table.publish(from, item_part(item), end);
      all = std::max(all, table.read(at, from, item_part(item), end));
    }
    return all;
  };
  std::vector<Held> entered;
  std::vector<Time> sent(static_cast<std::size_t>(P), Time{0});
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t d = 1; d < N; ++d) {
      for (std::int64_t lane = 0; lane < nodes.largest(); ++lane) {
        for (std::int64_t node = 0; node < N; ++node) {
          const std::int64_t there = (node + d) % N;
          if (lane >= nodes.size(there)) continue;
          const Rank to = rank_at(nodes, there, lane), by = rank_at(nodes, node, leaders ? 0 : lane);
          const std::int64_t item = to.index * k + i;
          Time& last = sent[static_cast<std::size_t>(by.index)];
          const Rank entry = leaders ? rank_at(nodes, there, 0) : to;
          const Time arrived = table.send(by, entry, item_part(item), std::max(last, collect(by, item)));
          last = arrived - c.base.lambda();
          entered.push_back({arrived, entry, item, to});
        }
      }
    }
    if (!leaders) {
      for (std::int32_t r = 0; r < P; ++r) collect(Rank{r}, r * k + i);
    }
  }
  if (leaders) {  // a leader hands over the fold of an item once all of it has come, and the others hand over their own
    std::vector<Time> complete(static_cast<std::size_t>(P * k), Time{0});
    for (const Held& h : entered) {
      Time& last = complete[static_cast<std::size_t>(h.item)];
      last = std::max(last, h.since);
    }
    for (std::int64_t item = 0; item < P * k; ++item) {
      const Rank to{static_cast<std::int32_t>(item / k)};
      const std::int64_t node = table.node_of(to), own = to.index - nodes.first_rank(node);
      for (std::int64_t i = 1; i < nodes.size(node); ++i) {
        const Rank from = rank_at(nodes, node, own + i);
        const bool leads = from.index == nodes.first_rank(node);
        Time& end = ends[static_cast<std::size_t>(from.index)];
        const Time published =
            table.publish(from, item_part(item), leads ? complete[static_cast<std::size_t>(item)] : end);
        if (!leads) end = published;
        table.read(to, from, item_part(item), published);
      }
    }
  }
  return std::move(table).schedule(bound);
}

/// All nodes, one event after another.
PlanPtr listed_exchange(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound) {
  const bool alltoall = problem.kind == Kind::alltoall, folds = problem.kind == Kind::reduce_scatter;
  const std::int64_t P = cluster.base.P;
  if (const std::int64_t events = saturating_multiply(saturating_multiply(P, P), problem.items); !listable(events)) {
    throw Error(
        "{} on {} has {} messages or more, too many to list: only where all ranks send it is planned without a list",
        to_string(problem.kind), to_string(cluster), in_words(events));
  }
  Schedule best;
  std::string how;
  if (folds) {
    best = reduce_scatter_schedule(cluster, problem, lanes, bound.time);
    how = lanes == Lanes::leaders ? "leaders: one rank a node folds and talks" : "a lane of every node folds and sends";
  } else {
    best = exchange_schedule(cluster, problem, lanes, false, bound.time);
    how = lanes == Lanes::leaders ? "leaders: one rank a node talks"
          : alltoall              ? "in turn to every rank of every node; boards inside nodes"
                                  : "every rank to its lane of every node; boards hand out";
    if (!alltoall && lanes != Lanes::leaders && cluster.nodes.largest() > 1) {
      Schedule direct = exchange_schedule(cluster, problem, lanes, true, bound.time);
      if (direct.finish < best.finish)
        best = std::move(direct), how = "every rank to every rank of other nodes; boards inside nodes";
    }
  }
  return std::make_shared<ListedClusterPlan>(std::move(best), bound.source, how);
}

}  // namespace

PlanPtr exchange_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  const Bound bound = exchange_bound(cluster, problem);
  if (lanes == Lanes::leaders) return listed_exchange(cluster, problem, lanes, bound);
  const bool several = cluster.nodes.count() > 1, equal = cluster.nodes.uniform();
  const std::int64_t P = cluster.base.P;
  Earliest best;
  if (!equal) {
    best.offer(exchange_in_columns(cluster, problem, bound));
    if (problem.kind != Kind::alltoall) {
      best.offer(exchange_by_first_lanes(cluster, problem, bound));
      best.offer(exchange_by_node_lanes(cluster, problem, bound));
    }
  }
  // What all nodes, or one of them, do one event after another is often a little faster, where that can be listed; on unequal nodes it may be much.
  const std::int64_t events = saturating_multiply(saturating_multiply(P, P), problem.items);
  const bool far = !equal && best.plan()->claim().gap().ticks > bound.time.ticks / kFar;
  const std::int64_t listed = saturating_multiply(events, problem.kind == Kind::allgather ? 1 : 2);
  if (events <= kMostExchanged || (far && listable(listed)))
    best.offer(listed_exchange(cluster, problem, lanes, bound));
  if (!equal) return best.plan();
  if (several && listable(exchange_in_step_events(cluster, problem)))
    best.offer(exchange_in_step(cluster, problem, bound));
  if (several && problem.kind != Kind::alltoall) best.offer(exchange_by_lanes(cluster, problem, bound));
  best.offer(exchange_in_turns(cluster, problem, bound));
  return best.plan();
}

}  // namespace chasqui::plan
