// SPDX-License-Identifier: MIT
// Scatter and gather, each message one item (clusters.md, Theorem 16).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/hand_out.hpp"
#include "plan/clusters/scatter/scatter_in_periods.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// The conditions on the time of a scatter that are harder the more items the root sends, and those that are easier.
struct Sides {
  std::int64_t rising = 0, falling = 0;

  void add(std::int64_t time, bool rises) { (rises ? rising : falling) = std::max(rises ? rising : falling, time); }
  std::int64_t larger() const { return std::max(rising, falling); }
};

/// Every item goes straight to its rank, by the root or by a lane that has read it, whichever is earlier; the first `ahead` in
/// any case by a lane.
Schedule scatter_schedule(const Cluster& c, Rank root, Lanes lanes, std::int64_t ahead, Time bound) {
  Timetable table(c, {.kind = Kind::scatter, .root = root}, 4 * c.base.P);
  const NodeIndex& nodes = table.where();
  const std::int64_t home = nodes.node_of(root), n = nodes.size(home), N = nodes.count();
  const std::int64_t place = root.index - nodes.first_rank(home);
  const bool leaders = lanes == Lanes::leaders;
  std::vector<Held> entered;
  Time sent{0}, published{0};  // the root's last send and publication: the next ones are not earlier
  std::int64_t turn = 0;       // whose lane it is
  for (std::int64_t lane = 0; lane < nodes.largest(); ++lane) {
    for (std::int64_t d = 1; d < N; ++d) {
      const std::int64_t node = (home + d) % N;
      if (lane >= nodes.size(node)) continue;
      const Rank to = rank_at(nodes, node, lane), entry = leaders ? rank_at(nodes, node, 0) : to;
      const Part part = item_part(to.index);
      const Time direct = table.end_of_send(root, entry, sent);
      if (n > 1 && !leaders) {
        const Rank by = rank_at(nodes, home, place + 1 + turn % (n - 1));
        const Time read = table.end_of_reading(by, table.end_of_publication(root, published));
        if (turn < ahead || table.end_of_send(by, entry, read) < direct) {
          published = table.publish(root, part, published);
          table.send(by, entry, part, table.read(by, root, part, published));
          ++turn;
          continue;
        }
      }
      const Time there = table.send(root, entry, part, sent);
      sent = there - c.base.lambda();
      if (entry != to) entered.push_back({there, entry, to.index, to});
    }
  }
  for (std::int64_t lane = 0; lane < n; ++lane) {
    const Rank to = rank_at(nodes, home, lane);
    if (to != root) entered.push_back({Time{0}, root, to.index, to});
  }
  hand_out(table, std::move(entered));
  return std::move(table).schedule(bound);
}

/// The best of several numbers of items that the root publishes before it sends one.
Schedule best_scatter(const Cluster& c, Rank root, Lanes lanes, Time bound) {
  constexpr std::int64_t kMostAhead = 6;
  Schedule best = scatter_schedule(c, root, lanes, 0, bound);
  const std::int64_t most = lanes == Lanes::leaders ? 0 : std::min(kMostAhead, c.nodes.size(c.nodes.node_of(root)) - 1);
  for (std::int64_t ahead = 1; ahead <= most && best.finish > bound; ++ahead) {
    Schedule tried = scatter_schedule(c, root, lanes, ahead, bound);
    if (tried.finish < best.finish) best = std::move(tried);
  }
  return best;
}

/// One event after another; in periods where these are too many, or where the periods end earlier.
PlanPtr scatter_or_gather(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  const bool gather = problem.kind == Kind::gather, leaders = lanes == Lanes::leaders;
  Cluster forwards = cluster;
  if (gather) std::swap(forwards.nodes.publish, forwards.nodes.read);
  Bound bound = scatter_bound(forwards, problem.root);
  if (gather) bound.source = "a gather run backwards is a scatter: " + bound.source;
  const bool listed = listable(4 * cluster.base.P), periods = fits_in_periods(cluster);
  if (!listed && !periods)
    throw Error("{} on {}: times do not fit into 63 bits; use a coarser tick", to_string(problem.kind),
                to_string(cluster));
  PlanPtr in_periods = periods ? scatter_in_periods(cluster, problem, lanes, bound) : nullptr;
  if (!listed) return in_periods;
  Schedule schedule = best_scatter(forwards, problem.root, lanes, bound.time);
  if (in_periods && in_periods->claim().finish < schedule.finish) return in_periods;
  if (gather) {
    return std::make_shared<ListedClusterPlan>(
        reversed_scatter(schedule, cluster), bound.source,
        leaders ? "leaders: the root receives everything" : "a scatter on lanes, reversed");
  }
  return std::make_shared<ListedClusterPlan>(
      std::move(schedule), bound.source,
      leaders ? "leaders: the root sends everything" : "lanes: the root sends or publishes, whichever is earlier");
}

}  // namespace

Bound scatter_bound(const Cluster& cluster, Rank root) {
  const LogP& M = cluster.base;
  if (M.P == 1) return {Time{0}, "one processor"};
  const std::int64_t n = cluster.nodes.size(cluster.nodes.node_of(root)), m = M.P - n, items = M.P - 1;
  const std::int64_t lambda = M.lambda().ticks, G = M.gap().ticks, o = M.o.ticks;
  const std::int64_t p = cluster.nodes.publish.ticks, r = cluster.nodes.read.ticks;
  const std::int64_t turn = std::max(G, r + o);  // of a lane
  checked_add(checked_multiply(M.P, std::max(turn, p), "the time of a scatter"), 2 * lambda, "the time of a scatter");
  const bool apart = o > 0 && p > 0;                          // no publication during a send
  const std::int64_t room = apart ? (G - o) / p : 0;          // publications between two sends that are G apart
  const std::int64_t one_more = apart ? p - (G - o) % p : 0;  // ticks that one more of them costs
  const auto with = [&](std::int64_t x) -> Sides {            // the root sends x of them and publishes the others
    const std::int64_t y = items - x;
    const std::int64_t tail = std::min(y > 0 ? r : lambda, x > 0 ? lambda - o : lambda);  // of a reading or a message
    Sides time{x > 0 ? lambda + (x - 1) * G : 0, y > 0 ? p + r : 0};
    if (m > x) time.falling = std::max(time.falling, p + r + lambda + (divide_up(m - x, n - 1) - 1) * turn);
    time.add(x * o + y * p + tail, o >= p);
    if (apart && x > 0) time.add((x - 1) * G + o + (y - (x - 1) * room) * one_more + tail, G >= (room + 1) * one_more);
    return time;
  };
  std::int64_t least = with(items).larger();
  if (n > 1) {
    least = std::min(least, with(0).larger());
    std::int64_t low = 1,
                 high = items - 1;  // the first of 1 .. items - 1 where what rises is larger, or the last of them
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (with(middle).rising >= with(middle).falling) high = middle;
      else low = middle + 1;
    }
    for (const std::int64_t x : {low - 1, low}) {
      if (x > 0 && x < items) least = std::min(least, with(x).larger());
    }
  }
  const std::int64_t adapter = m == 0 ? 0 : lambda + (m - 1) * cluster.nodes.gamma.ticks;
  if (adapter >= least) return {Time{adapter}, "the items leave the root's node one by one"};
  return {Time{least}, "the root sends or publishes every item"};
}

Schedule reversed_scatter(const Schedule& scatter, const Cluster& c) {
  Schedule s{
      c.base, {.kind = Kind::gather, .root = scatter.problem.root}, scatter.finish, scatter.bound, {}, {}, {}, {}, {},
      c.nodes};
  std::vector<Rank> reader(static_cast<std::size_t>(c.base.P));
  for (const Send& send : scatter.sends)
    s.sends.push_back({scatter.finish - send.begin - c.base.lambda(), send.to, send.from, send.part});
  for (const Reading& r : scatter.readings) {
    reader[static_cast<std::size_t>(r.part.lo)] = r.rank;
    s.publications.push_back({scatter.finish - r.begin - scatter.nodes.read, r.rank, r.part});
  }
  for (const Publication& p : scatter.publications)
    s.readings.push_back({scatter.finish - p.begin - scatter.nodes.publish, p.rank,
                          reader[static_cast<std::size_t>(p.part.lo)], p.part});
  normalise(s);
  return s;
}

PlanPtr scatter_on_cluster(const Cluster& cluster, Rank root, Lanes lanes) {
  return scatter_or_gather(cluster, {.kind = Kind::scatter, .root = root}, lanes);
}

PlanPtr gather_on_cluster(const Cluster& cluster, Rank root, Lanes lanes) {
  return scatter_or_gather(cluster, {.kind = Kind::gather, .root = root}, lanes);
}

}  // namespace chasqui::plan
