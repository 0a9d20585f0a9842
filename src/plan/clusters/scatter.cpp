// SPDX-License-Identifier: MIT
// Scatter and gather, each message one item (clusters.md, Theorem 16).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/hand_out.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// clusters.md, Theorem 16. `m` items leave the root's node, and `items` leave the root. `asked`: a gather is one backwards.
Bound scatter_bound(const Cluster& c, Rank root, Kind asked) {
  const LogP& M = c.base;
  require_listable(c, {.kind = asked, .root = root}, 4 * M.P);
  const std::int64_t n = c.nodes.size(c.nodes.node_of(root)), m = M.P - n, items = M.P - 1;
  const std::int64_t lambda = M.lambda().ticks, G = M.gap().ticks, o = M.o.ticks;
  const std::int64_t p = c.nodes.publish.ticks, r = c.nodes.read.ticks;
  if (M.P == 1) return {Time{0}, "one processor"};
  const auto with = [&](std::int64_t x) {  // the root sends x of them and publishes the others
    const std::int64_t y = items - x;
    std::int64_t time = y > 0 ? p + r : 0;
    if (x > 0) time = std::max(time, lambda + (x - 1) * G);
    if (m > x) time = std::max(time, p + r + lambda + (divide_up(m - x, n - 1) - 1) * G);
    const std::int64_t tail = std::min(y > 0 ? r : lambda, x > 0 ? lambda - o : lambda);  // of a reading or a message
    return std::max(time, x * o + y * p + tail);
  };
  std::int64_t least = with(items);
  for (std::int64_t x = 0; x < items && n > 1; ++x) least = std::min(least, with(x));
  const std::int64_t adapter = m == 0 ? 0 : lambda + (m - 1) * c.nodes.gamma.ticks;
  if (adapter >= least) return {Time{adapter}, "the items leave the root's node one by one"};
  return {Time{least}, "the root sends or publishes every item"};
}

/// Every item goes straight to its rank, by the root or by a lane that has read it, whichever is earlier; the first `ahead` in
/// any case by a lane.
Schedule scatter_schedule(const Cluster& c, Rank root, Lanes lanes, std::int64_t ahead, Time bound) {
  const Nodes& nodes = c.nodes;
  Timetable table(c, {.kind = Kind::scatter, .root = root}, 4 * c.base.P);
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

/// A scatter backwards: what was published is read, what was read is published, each by one rank.
Schedule reversed(const Schedule& scatter, const Cluster& c, Rank root) {
  Schedule s{c.base, {.kind = Kind::gather, .root = root}, scatter.finish, scatter.bound, {}, {}, {}, {}, {}, c.nodes};
  for (const Send& send : scatter.sends)
    s.sends.push_back({scatter.finish - send.begin - c.base.lambda(), send.to, send.from, send.part});
  for (const Reading& r : scatter.readings)
    s.publications.push_back({scatter.finish - r.begin - scatter.nodes.read, r.rank, r.part});
  for (const Publication& p : scatter.publications) {
    const auto reader = std::find_if(scatter.readings.begin(), scatter.readings.end(),
                                     [&](const Reading& r) { return r.from == p.rank && r.part == p.part; });
    s.readings.push_back({scatter.finish - p.begin - scatter.nodes.publish, p.rank, reader->rank, p.part});
  }
  normalise(s);
  return s;
}

}  // namespace

PlanPtr scatter_on_cluster(const Cluster& cluster, Rank root, Lanes lanes) {
  const Bound bound = scatter_bound(cluster, root, Kind::scatter);
  return std::make_shared<ListedClusterPlan>(best_scatter(cluster, root, lanes, bound.time), bound.source,
                                             lanes == Lanes::leaders
                                                 ? "leaders: the root sends everything"
                                                 : "lanes: the root sends or publishes, whichever is earlier");
}

PlanPtr gather_on_cluster(const Cluster& cluster, Rank root, Lanes lanes) {
  Cluster backwards = cluster;
  std::swap(backwards.nodes.publish, backwards.nodes.read);
  const Bound bound = scatter_bound(backwards, root, Kind::gather);
  return std::make_shared<ListedClusterPlan>(
      reversed(best_scatter(backwards, root, lanes, bound.time), cluster, root),
      "a gather run backwards is a scatter: " + bound.source,
      lanes == Lanes::leaders ? "leaders: the root receives everything" : "a scatter on lanes, reversed");
}

}  // namespace chasqui::plan
