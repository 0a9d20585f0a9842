// SPDX-License-Identifier: MIT
// One item to all ranks of a cluster: every node is entered once and sends on by its lanes (clusters.md, Theorem 5).
#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_index.hpp"
#include "plan/clusters/trees/node_places.hpp"
#include "plan/earliest.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostListedNodes = 1'000'000,
                       kMostListedRanks = 100'000'000;  ///< of a plan that is a list: 4 GB
constexpr std::int64_t kMostListedFirst =
    1 << 16;                               ///< on more ranks a plan of which each finds its part goes before a list
constexpr std::int64_t kMostMixed = 4096;  ///< ranks of a plan that enters some nodes more than once

/// When lane 0 publishes: as its habit says, or after its last send. Counted from the start.
std::int64_t publication_begin(const SpreadShape& shape, const Habit& habit, const std::vector<Spread::Node>& children,
                               std::int64_t label) {
  if (habit.lanes >= 2) return label + inform_begin(shape, habit);
  return children.empty() ? label : children.back().parent_begin + shape.overhead;
}

class ClusterBroadcast final : public Plan {
 public:
  ClusterBroadcast(const Cluster& cluster, Rank root, Claim claim, NodePlaces places)
      : Plan(cluster, Problem{.kind = Kind::broadcast, .root = root}, std::move(claim)), places_(std::move(places)),
        root_lane_(root.index - where().first_rank(places_.root_node())) {
    claim_.finish = end();
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = where().node_of(rank), n = where().size(node),
                       place = rank.index - where().first_rank(node);
    const std::int64_t lane = modulo(place - (node == places_.root_node() ? root_lane_ : 0), n);
    const Spread::Node at = places_.place_of(node);
    const auto children = tree().children(at);
    for (const Spread::Node& child : children) {
      if (child.parent_lane == lane) form.sends.push_back(send(node, child));
    }
    if (lane == 0 && at.parent >= 0) form.receives.push_back(send(places_.node_at(tree().node(at.parent)), at));
    if (n == 1) return form;
    const Publication published = publication(node, at, children);
    if (lane == 0) {
      form.publications.push_back(published);
    } else {
      form.readings.push_back({published.begin + nodes_.publish, rank, published.rank, {0, 1}});
    }
    return form;
  }

  Schedule schedule() const override {
    if (machine_.P > kMostListedRanks)
      throw Error("broadcast on {} ranks: too many to list (at most {}): ask for one rank, or for fewer ranks",
                  machine_.P, kMostListedRanks);
    Schedule schedule = empty_schedule();
    std::vector<Spread::Node> open{tree().root()};
    while (!open.empty()) {
      const Spread::Node at = open.back();
      open.pop_back();
      const std::int64_t node = places_.node_at(at), n = where().size(node);
      const auto children = tree().children(at);
      for (const Spread::Node& child : children) schedule.sends.push_back(send(node, child));
      open.insert(open.end(), children.begin(), children.end());
      if (n == 1) continue;
      const Publication published = publication(node, at, children);
      schedule.publications.push_back(published);
      for (std::int64_t lane = 1; lane < n; ++lane)
        schedule.readings.push_back({published.begin + nodes_.publish, rank_of(node, lane), published.rank, {0, 1}});
    }
    normalise(schedule);
    return schedule;
  }

 private:
  const Spread& tree() const { return places_.tree(); }
  const NodeIndex& where() const { return places_.where(); }
  Rank rank_of(std::int64_t node, std::int64_t lane) const {
    const std::int64_t place = node == places_.root_node() ? (lane + root_lane_) % where().size(node) : lane;
    return {static_cast<std::int32_t>(where().first_rank(node) + place)};
  }
  /// From a node to the one at the place of its child.
  Send send(std::int64_t node, const Spread::Node& child) const {
    return send_item(Time{child.parent_begin}, rank_of(node, child.parent_lane), rank_of(places_.node_at(child), 0), 0);
  }
  Publication publication(std::int64_t node, const Spread::Node& at, const std::vector<Spread::Node>& children) const {
    const Habit& habit = tree().habit(at.left);
    return {Time{publication_begin(tree().shape(), habit, children, at.label)}, rank_of(node, 0), {0, 1}};
  }

  /// When the ranks of a node have it that is entered last. Where all nodes but the root's have one rank, that one may be later.
  Time end() const {
    const Time entered{tree().time()}, board = nodes_.publish + nodes_.read;
    if (places_.last_size() > 1) return entered + board;
    const Spread::Node root = tree().root();
    const bool alone = where().size(places_.root_node()) == 1;
    const Time at_root = alone ? Time{0} : publication(places_.root_node(), root, tree().children(root)).begin + board;
    // A message takes the machine's own latency, which may be shorter than the tree's.
    const Time shorter = where().count() == 1 ? Time{0} : Time{tree().shape().lambda} - machine_.lambda();
    return std::max(entered - shorter, at_root);
  }

  NodePlaces places_;
  std::int64_t root_lane_;
};

/// Entries of the full tree within T, each with its lane; not cut off at N.
struct Entry {
  std::int64_t label = 0;
  std::size_t parent = 0;
  std::int64_t lane = 0;
};

/// When a rank has time to publish first, from its entry on: before, between or after its sends.
std::int64_t first_pause(const SpreadShape& shape, std::int64_t label, const std::vector<std::int64_t>& sends) {
  std::int64_t free = label;
  if (shape.overhead == 0) return free;
  for (const std::int64_t begin : sends) {
    if (begin >= free + shape.publish) return free;
    free = begin + shape.overhead;
  }
  return free;
}

/// Late nodes get a message for each rank instead of a publication (clusters.md, Theorem 6). Nothing where that does not work out
/// in T ticks. The tree counts ranks.
PlanPtr mixed(const Cluster& cluster, Rank root, const Bound& bound, const Spread& tree, std::int64_t T) {
  const Nodes& nodes = cluster.nodes;
  const std::int64_t n = nodes.largest(), N = nodes.count();
  const SpreadShape& shape = tree.shape();
  const std::int64_t board = shape.publish + shape.read;
  if (tree.count(T) < n * N) return nullptr;
  std::vector<Entry> entries{{}};
  std::vector<std::size_t> early, late;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry entry = entries[i];
    (entry.label <= T - board ? early : late).push_back(i);
    if (static_cast<std::int64_t>(entries.size()) > 4 * kMostMixed) return nullptr;
    const Habit& habit = tree.habit(T - entry.label);
    Turns turns(shape, habit);
    std::size_t made = 0;
    while (turns.begin(made) <= T - entry.label - shape.lambda) ++made;
    for (std::int64_t lane = 0; lane < habit.lanes; ++lane) {
      for (const std::int64_t begin : turns.of_lane(lane)) {
        if (begin <= T - entry.label - shape.lambda) entries.push_back({entry.label + begin + shape.lambda, i, lane});
      }
    }
  }
  const auto A = static_cast<std::int64_t>(early.size());
  if (A >= N) return nullptr;
  // Of the late entries as many as may go to N - A nodes, one in gamma each: at most N - A begin within gamma ticks.
  std::sort(late.begin(), late.end(),
            [&](std::size_t a, std::size_t b) { return entries[a].label < entries[b].label; });
  const auto M = static_cast<std::size_t>(N - A);
  std::vector<std::size_t> taken;
  for (const std::size_t i : late) {
    const bool fits = taken.size() < M || entries[i].label - entries[taken[taken.size() - M]].label >= shape.gamma;
    if (fits && taken.size() < static_cast<std::size_t>(n) * M) taken.push_back(i);
  }
  if (taken.size() < static_cast<std::size_t>(n) * M) return nullptr;

  Schedule s{cluster.base, {.kind = Kind::broadcast, .root = root}, Time{T}, bound.time, {}, {}, {}, {}, {}, nodes};
  std::vector<std::int64_t> node_of(entries.size(), -1), local(entries.size(), 0);
  for (std::size_t k = 0; k < early.size(); ++k) node_of[early[k]] = static_cast<std::int64_t>(k);
  for (std::size_t k = 0; k < taken.size(); ++k) {
    node_of[taken[k]] = A + static_cast<std::int64_t>(k % M);
    local[taken[k]] = static_cast<std::int64_t>(k / M);
  }
  const auto rank_of = [&](std::int64_t node, std::int64_t lane) {
    const std::int64_t place = node == 0 ? modulo(lane + root.index % n, n) : lane;
    return Rank{static_cast<std::int32_t>(modulo(node + root.index / n, N) * n + place)};
  };
  std::vector<std::vector<std::int64_t>> own(entries.size());  // begins of the sends of lane 0
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    if (node_of[i] < 0) continue;
    const std::int64_t begin = e.label - shape.lambda;
    s.sends.push_back(send_item(Time{begin}, rank_of(node_of[e.parent], e.lane), rank_of(node_of[i], local[i]), 0));
    if (e.lane == 0) own[e.parent].push_back(begin);
  }
  for (const std::size_t i : early) {
    const Habit& habit = tree.habit(T - entries[i].label);
    const std::int64_t begin =
        habit.lanes >= 2 ? entries[i].label + inform_begin(shape, habit) : first_pause(shape, entries[i].label, own[i]);
    if (begin + board > T) return nullptr;
    s.publications.push_back({Time{begin}, rank_of(node_of[i], 0), {0, 1}});
    for (std::int64_t lane = 1; lane < n; ++lane) {
      s.readings.push_back({Time{begin + shape.publish}, rank_of(node_of[i], lane), rank_of(node_of[i], 0), {0, 1}});
    }
  }
  normalise(s);
  return std::make_shared<ListedClusterPlan>(std::move(s), bound.source,
                                             fmt::format("lanes; {} nodes are entered once, {} by every rank", A, M));
}

/// The earliest of them that ends before `finish`, or one of many times that were tried. REQUIRES a bound of lambda or more.
PlanPtr earliest_mixed(const Cluster& cluster, Rank root, const Bound& bound, Time finish) {
  constexpr std::int64_t kMostTried = 4096, kMostTimes = std::int64_t{1} << 18U;
  const std::int64_t n = cluster.nodes.largest(), horizon = finish.ticks - 1;
  SpreadShape ranks = spread_shape(cluster, n);
  ranks.late_ranks = n;
  if (bound.time >= finish || (horizon - ranks.lambda) / common_unit(ranks) > kMostTimes) return nullptr;
  try {
    const Spread tree(ranks, 4 * n * cluster.nodes.count(), false, horizon);
    const std::int64_t times = divide_up((finish - bound.time).ticks, tree.unit());
    for (std::int64_t T = bound.time.ticks; T <= tree.time(); T += tree.unit() * divide_up(times, kMostTried)) {
      if (PlanPtr plan = mixed(cluster, root, bound, tree, T)) return plan;
    }
  } catch (const TableTooLong&) {
  }
  return nullptr;
}

/// Unequal nodes: the largest node that is left takes the earliest entry.
class UnequalBroadcast {
 public:
  UnequalBroadcast(const Cluster& cluster, Rank root, Lanes lanes)
      : cluster_(cluster), where_(cluster.nodes), root_(root), lanes_(lanes) {
    const std::int64_t root_node = cluster.nodes.node_of(root);
    std::vector<std::pair<std::int64_t, std::int64_t>> others;  // size, node
    std::int64_t node = 0;
    for (const Nodes::Run& run : cluster.nodes.runs) {
      for (std::int64_t i = 0; i < run.count; ++i, ++node) {
        if (node != root_node) others.emplace_back(-run.size, node);
      }
    }
    std::sort(others.begin(), others.end());
    order_.emplace_back(cluster.nodes.size(root_node), root_node);
    for (const auto& [size, other] : others) order_.emplace_back(-size, other);
  }

  Schedule plan() {
    const SpreadShape exact = spread_shape(cluster_, cluster_.nodes.largest());
    return in_short_tables(exact, [&](std::int64_t step) {
      tables_.clear();
      parts_.clear();
      shape_ = rounded(exact, step, Rounding::up);
      const Spread if_all_were_largest(shape_, cluster_.nodes.count(), lanes_ == Lanes::leaders);
      std::int64_t T = if_all_were_largest.time(), later = if_all_were_largest.unit();
      for (std::int64_t tried = 1; !fits(T); ++tried, T += later) {
        if (tried % kHorizonsTried == 0) later *= 2;
      }
      return schedule();
    });
  }

 private:
  static constexpr std::int64_t kMany = std::int64_t{1} << 40U;  ///< more nodes than there can be
  static constexpr std::int64_t kHorizonsTried = 64;

  /// What a node does that has some time left: begins from its entry on, lane by lane.
  struct NodePart {
    Habit habit;
    std::vector<std::pair<std::int64_t, std::int64_t>> sends;  ///< begin, lane
  };
  struct Entered {
    std::int64_t label = 0;
    Habit habit;
    std::size_t parent = 0;
    std::int64_t parent_lane = 0;
  };

  SpreadShape shape(std::int64_t size) const {
    SpreadShape node = shape_;
    node.lanes = std::min(size, cluster_.nodes.count());  // nobody sends more often than there are nodes
    return node;
  }

  const Spread& table(std::int64_t size, std::int64_t T) {
    const auto known = tables_.find(size);
    if (known != tables_.end() && known->second.time() >= T) return known->second;
    const std::int64_t longer = T + shape(size).lambda / 4;
    return tables_.insert_or_assign(size, Spread(shape(size), kMany, lanes_ == Lanes::leaders, longer)).first->second;
  }

  /// Nodes of one size that have the same time left do the same.
  const NodePart& part(std::int64_t size, std::int64_t left, std::int64_t T) {
    const auto [at, fresh] = parts_.try_emplace({size, left});
    NodePart& made = at->second;
    if (!fresh) return made;
    made.habit = table(size, T).habit(left);
    Turns turns(shape(size), made.habit);
    std::size_t sends = 0;
    while (turns.begin(sends) <= left - shape_.lambda && sends < order_.size()) ++sends;
    for (std::int64_t lane = 0; lane < made.habit.lanes; ++lane) {
      for (const std::int64_t begin : turns.of_lane(lane)) {
        if (begin <= left - shape_.lambda) made.sends.emplace_back(begin, lane);
      }
    }
    return made;
  }

  bool fits(std::int64_t T) {
    entered_.assign(order_.size(), {});
    struct Send {
      std::int64_t begin;
      std::size_t from;
      std::int64_t lane;
      bool operator>(const Send& b) const { return std::tie(begin, from, lane) > std::tie(b.begin, b.from, b.lane); }
    };
    std::priority_queue<Send, std::vector<Send>, std::greater<>> open;
    const std::int64_t lambda = shape_.lambda;
    for (std::size_t next = 0; next < order_.size(); ++next) {
      Entered& now = entered_[next];
      if (next > 0) {
        if (open.empty()) return false;
        now.label = open.top().begin + lambda;
        now.parent = open.top().from;
        now.parent_lane = open.top().lane;
        open.pop();
      }
      const NodePart& does = part(order_[next].first, T - now.label, T);
      now.habit = does.habit;
      for (const auto& [begin, lane] : does.sends) open.push({now.label + begin, next, lane});
    }
    return true;
  }

  Rank rank_of(std::size_t place, std::int64_t lane) const {
    const auto [size, node] = order_[place];
    const std::int64_t first = where_.first_rank(node);
    return {static_cast<std::int32_t>(first + (place == 0 ? modulo(lane + root_.index - first, size) : lane))};
  }

  Schedule schedule() const {
    const Nodes& nodes = cluster_.nodes;
    Schedule s{cluster_.base, {.kind = Kind::broadcast, .root = root_}, {}, {}, {}, {}, {}, {}, {}, nodes};
    const std::int64_t lambda = shape_.lambda;
    std::vector<std::int64_t> last_own(order_.size(), -1);
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const Entered& e = entered_[i];
      const std::int64_t begin = e.label - lambda;
      s.sends.push_back(send_item(Time{begin}, rank_of(e.parent, e.parent_lane), rank_of(i, 0), 0));
      if (e.parent_lane == 0) last_own[e.parent] = std::max(last_own[e.parent], begin);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (order_[i].first < 2) continue;
      std::int64_t begin = entered_[i].label;
      if (entered_[i].habit.lanes >= 2) {
        begin += inform_begin(shape(order_[i].first), entered_[i].habit);
      } else if (last_own[i] >= 0) {
        begin = last_own[i] + cluster_.base.o.ticks;
      }
      s.publications.push_back({Time{begin}, rank_of(i, 0), {0, 1}});
      for (std::int64_t lane = 1; lane < order_[i].first; ++lane) {
        s.readings.push_back({Time{begin} + nodes.publish, rank_of(i, lane), rank_of(i, 0), {0, 1}});
      }
    }
    normalise(s);
    s.finish = actual_finish(s);
    return s;
  }

  const Cluster& cluster_;
  NodeIndex where_;
  Rank root_;
  Lanes lanes_;
  std::vector<std::pair<std::int64_t, std::int64_t>> order_;  ///< size and node, in the order of their entries
  std::vector<Entered> entered_;
  SpreadShape shape_{};                    ///< of the largest nodes, in the unit that is tried
  std::map<std::int64_t, Spread> tables_;  ///< by size
  std::map<std::pair<std::int64_t, std::int64_t>, NodePart> parts_;  ///< by size and time left
};

const char* who_sends(Lanes lanes) {
  return lanes == Lanes::leaders ? "leaders: one rank a node sends" : "lanes: every node is entered once";
}

/// No list that enters every node once ends earlier; 0 where that is not known.
Time least_of_lists(const Cluster& cluster, Lanes lanes) {
  if (cluster.nodes.smallest() < 2) return Time{0};  // the last node needs no publication
  const std::int64_t most = lanes == Lanes::leaders ? 1 : cluster.nodes.largest();
  return Time{least_time(spread_shape(cluster, most), cluster.nodes.count())} + cluster.nodes.publish +
         cluster.nodes.read;
}

PlanPtr unequal_broadcast(const Cluster& cluster, Rank root, Lanes lanes, const Bound& bound) {
  const std::int64_t P = cluster.base.P;
  PlanPtr in_places = broadcast_in_places(cluster, root, lanes, bound);
  const Claim& known = in_places->claim();
  if (cluster.nodes.count() > kMostListedNodes || P > kMostListedRanks) return in_places;
  const bool many = P > kMostListedFirst;
  if (many && (known.optimal() || known.finish <= least_of_lists(cluster, lanes))) return in_places;
  Schedule schedule = UnequalBroadcast(cluster, root, lanes).plan();
  schedule.bound = bound.time;
  PlanPtr listed = std::make_shared<ListedClusterPlan>(std::move(schedule), bound.source,
                                                       std::string(who_sends(lanes)) + ", the largest first");
  Earliest best(many ? in_places : listed);
  best.offer(many ? listed : in_places);
  return best.plan();
}

}  // namespace

std::int64_t nodes_entered(const Cluster& cluster, Time T) {
  validate(cluster);
  const SpreadShape shape = spread_shape(cluster, cluster.nodes.largest());
  const std::int64_t N = cluster.nodes.count();
  if (T >= Time{Spread(shape, N).time()}) return N;
  return Spread(shape, N, false, std::max(T.ticks, shape.lambda)).count(T.ticks);
}

Bound cluster_broadcast_bound(const Cluster& cluster) {
  return cluster_broadcast_bound(cluster, cluster.nodes.largest());
}

Bound cluster_broadcast_bound(const Cluster& cluster, std::int64_t root_size) {
  const Nodes& nodes = cluster.nodes;
  const std::int64_t n = nodes.largest(), N = nodes.count();
  const Time board = nodes.publish + nodes.read;
  if (N == 1) return {n == 1 ? Time{0} : board, n == 1 ? "one processor" : "one node: somebody must publish"};
  const SpreadShape shape = spread_shape(cluster, n);
  const std::optional<UnequalTimes> unequal = unequal_broadcast_times(cluster, root_size);
  const Time entered = std::max(Time{least_time(shape, N)}, unequal ? unequal->entered : Time{0});
  Bound bound{entered, "no more nodes can be entered"};
  if (const std::int64_t least = nodes.smallest(); least >= 2) {
    const Time apart{saturating_multiply(least - 1, nodes.gamma.ticks)};
    bound.time += std::min(board, apart);
    if (apart > Time{0}) bound.source = "no more nodes can be entered in time to inform all their ranks";
  }
  if (nodes.uniform() && n >= 2 && bound.time < entered + board) {
    SpreadShape ranks = shape;
    ranks.late_ranks = n;
    const Time informed{least_time(ranks, saturating_multiply(n, N))};
    if (informed > bound.time) bound = {informed, "no more ranks can be informed"};
  }
  if (unequal && unequal->informed > bound.time) bound = {unequal->informed, "no more ranks can be informed"};
  return bound;
}

Spread one_entry_tree(const Cluster& cluster, Lanes lanes, std::int64_t most) {
  SpreadShape shape = spread_shape(cluster, cluster.nodes.largest());
  shape.lanes = std::min(shape.lanes, std::max<std::int64_t>(most, 2));  // a single lane informs the others, too
  return tree_of_nodes(shape, cluster.nodes.count(), lanes == Lanes::leaders || most == 1);
}

PlanPtr one_entry_broadcast(const Cluster& cluster, Rank root, Lanes lanes, const Bound& bound, Spread tree) {
  return std::make_shared<ClusterBroadcast>(cluster, root, Claim{Time{0}, bound.time, bound.source, who_sends(lanes)},
                                            NodePlaces(cluster, root, std::move(tree)));
}

PlanPtr broadcast_in_places(const Cluster& cluster, Rank root, Lanes lanes, const Bound& bound) {
  const std::int64_t root_size = cluster.nodes.size(cluster.nodes.node_of(root)), N = cluster.nodes.count();
  SpreadShape shape = spread_shape(cluster, root_size);
  // More lanes than the adapter keeps busy send nothing, beside one that publishes.
  const std::int64_t useful = shape.gamma > 0 ? std::min(N, divide_up(shape.gap, shape.gamma) + 1) : N;
  std::set<std::int64_t> sizes;
  for (const Nodes::Run& run : cluster.nodes.runs) sizes.insert(std::min({run.size, root_size, useful}));
  if (lanes == Lanes::leaders) sizes = {1};
  std::vector<std::int64_t> tried(sizes.begin(), sizes.end());
  const auto places = [&](std::size_t i) {
    shape.lanes = tried[i];
    return NodePlaces(cluster, root, tree_of_nodes(shape, N, lanes == Lanes::leaders));
  };
  std::size_t fits = 0, end = tried.size();  // the smallest number always fits
  NodePlaces best = places(tried.size() - 1);
  if (!best.fit()) {
    --end;
    best = places(fits);
    while (end - fits > 1) {
      const std::size_t middle = fits + (end - fits) / 2;
      if (NodePlaces more = places(middle); more.fit()) best = std::move(more), fits = middle;
      else end = middle;
    }
  }
  const std::int64_t used = best.tree().shape().lanes;
  std::string how = who_sends(lanes);
  if (lanes != Lanes::leaders) how += fmt::format(", on {} lane{} at most", used, used == 1 ? "" : "s");
  return std::make_shared<ClusterBroadcast>(cluster, root, Claim{Time{0}, bound.time, bound.source, how},
                                            std::move(best));
}

PlanPtr broadcast_on_cluster(const Cluster& cluster, Rank root, Lanes lanes) {
  const Bound bound = cluster_broadcast_bound(cluster, cluster.nodes.size(cluster.nodes.node_of(root)));
  const Nodes& nodes = cluster.nodes;
  if (!nodes.uniform()) return unequal_broadcast(cluster, root, lanes, bound);
  PlanPtr plan = one_entry_broadcast(cluster, root, lanes, bound, one_entry_tree(cluster, lanes));
  if (lanes == Lanes::all && nodes.largest() >= 2 && cluster.base.P <= kMostMixed) {
    if (PlanPtr better = earliest_mixed(cluster, root, bound, plan->claim().finish)) return better;
  }
  return plan;
}

}  // namespace chasqui::plan
