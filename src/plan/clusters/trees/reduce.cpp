// SPDX-License-Identifier: MIT
// The fold of all contributions at the root: first inside each node, then the tree of nodes backwards, each lane folding what it
// receives (clusters.md, Theorem 9).
#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/node_parts.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostFoldedOnEqualNodes =
    4096;  ///< ranks of a plan that is a list, where every rank could know its own part

/// Backwards in time lane 0 informs one lane after another: forwards it reads one publication after another.
SpreadShape reduce_shape(const Cluster& cluster) {
  SpreadShape shape = spread_shape(cluster, cluster.nodes.smallest());
  std::swap(shape.publish, shape.read);
  shape.serial = true;
  return shape;
}

class ClusterReduce final : public Plan {
 public:
  ClusterReduce(const Cluster& cluster, Rank root, bool commutative, Claim claim, Spread tree)
      : Plan(cluster, Problem{.kind = Kind::reduce, .root = root, .commutative = commutative}, std::move(claim)),
        tree_(std::move(tree)), N_(cluster.nodes.count()), root_node_(cluster.nodes.node_of(root)),
        where_(cluster.nodes), folds_(cluster.nodes), folded_(folds_.time()) {
    claim_.finish = Time{folded_ + tree_.time() - first_event(tree_.root())};
  }

  LocalForm local(Rank rank) const override {
    LocalForm form{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    const std::int64_t node = where_.node_of(rank);
    const std::int64_t index = modulo(node - root_node_, N_);
    fold_events(node, rank, form.publications, form.readings);
    const Spread::Node at = tree_.node(index);
    const auto children = tree_.children(at);
    const std::int64_t lane = lane_of(rank, node);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      if (child->parent_lane == lane) form.receives.push_back(message(*child));
    }
    if (lane == 0 && at.parent >= 0) form.sends.push_back(message(at));
    for_lanes(at, children, [&](const Publication& published, const Reading& read) {
      if (published.rank == rank) form.publications.push_back(published);
      if (lane == 0) form.readings.push_back(read);
    });
    std::sort(form.readings.begin(), form.readings.end());
    return form;
  }

  Schedule schedule() const override {
    Schedule s = empty_schedule();
    for (std::int64_t node = 0; node < N_; ++node) {
      const std::int64_t first = where_.first_rank(node);
      for (std::int64_t i = 0; i < where_.size(node); ++i)
        fold_events(node, Rank{static_cast<std::int32_t>(first + i)}, s.publications, s.readings);
    }
    std::vector<Spread::Node> open{tree_.root()};
    while (!open.empty()) {
      const Spread::Node at = open.back();
      open.pop_back();
      const auto children = tree_.children(at);
      for (const Spread::Node& child : children) s.sends.push_back(message(child));
      for_lanes(at, children, [&](const Publication& published, const Reading& read) {
        s.publications.push_back(published);
        s.readings.push_back(read);
      });
      open.insert(open.end(), children.begin(), children.end());
    }
    normalise(s);
    return s;
  }

 private:
  std::int64_t leader(std::int64_t node) const {
    return node == root_node_ ? problem_.root.index : where_.first_rank(node);
  }
  /// Lane 0 is the leader; the others follow it around the end of the node.
  std::int64_t lane_of(Rank rank, std::int64_t node) const {
    return modulo(rank.index - leader(node), where_.size(node));
  }
  Rank rank_of(std::int64_t index, std::int64_t lane) const {
    const std::int64_t node = modulo(index + root_node_, N_);
    const std::int64_t first = where_.first_rank(node);
    return {static_cast<std::int32_t>(first + modulo(leader(node) - first + lane, where_.size(node)))};
  }

  void fold_events(std::int64_t node, Rank rank, std::vector<Publication>& publications,
                   std::vector<Reading>& readings) const {
    const BoardFold& fold = folds_.of(where_.size(node));
    fold.events(where_.first_rank(node), leader(node), lane_of(rank, node), publications, readings);
  }

  /// What an entered node hands to the lane that entered it.
  Send message(const Spread::Node& child) const {
    // It arrives when the tree has it, by the machine's own latency, which may be shorter than the tree's.
    Send send{Time{folded_ + tree_.time() - child.parent_begin} - machine_.lambda(),
              rank_of(child.index, 0),
              rank_of(child.parent, child.parent_lane),
              {}};
    std::tie(send.part, send.second) = node_parts(where_, problem_, child.index + root_node_, child.size);
    return send;
  }

  /// Calls report(publication, reading) for each lane above 0 that has received something.
  template <typename Report>
  void for_lanes(const Spread::Node& at, const std::vector<Spread::Node>& children, Report report) const {
    const std::int64_t end = folded_ + tree_.time() - at.label;  // when the leader has everything
    for (std::size_t i = 0; i < children.size();) {
      const std::int64_t lane = children[i].parent_lane, lo = children[i].index;
      std::int64_t count = 0;
      for (; i < children.size() && children[i].parent_lane == lane; ++i) count += children[i].size;
      if (lane == 0) continue;
      const Habit& habit = tree_.habit(at.left);
      const Time begin{end - lane_ready(tree_.shape(), habit, lane)};
      const auto [part, second] = node_parts(where_, problem_, lo + root_node_, count);
      const Rank rank = rank_of(at.index, lane);
      const Time both{tree_.shape().publish + tree_.shape().read};
      report(Publication{begin, rank, part, second},
             Reading{begin + both - nodes_.read, rank_of(at.index, 0), rank, part, second});
    }
  }

  /// Backwards in time: when lane 0 of this node first has to do with another rank.
  std::int64_t first_event(const Spread::Node& at) const {
    std::int64_t first = tree_.time();
    for (const Spread::Node& child : tree_.children(at)) {
      const Habit& habit = tree_.habit(at.left);
      const std::int64_t lane = child.parent_lane;
      first = std::min(first, lane == 0 ? child.parent_begin
                                        : inform_begin(tree_.shape(), habit) + (lane - 1) * tree_.shape().publish);
    }
    return first;
  }

  Spread tree_;
  std::int64_t N_, root_node_;
  NodeIndex where_;
  BoardFolds folds_;
  std::int64_t folded_;  ///< when every node has its own fold
};

}  // namespace

Bound cluster_reduce_bound(const Cluster& cluster, std::int64_t root_size) {
  Cluster backwards = cluster;
  std::swap(backwards.nodes.publish, backwards.nodes.read);
  Bound bound = cluster_broadcast_bound(backwards, root_size);
  bound.source = "a reduction run backwards is a broadcast: " + bound.source;
  const Time together = std::max(flow_together_bound(cluster), unequal_flow_time(cluster, root_size));
  if (together > bound.time)
    bound = {together, "a reading takes one publication: no more contributions can flow together"};
  return bound;
}

Bound cluster_exchange_bound(const Cluster& cluster) {
  const std::int64_t least = cluster.nodes.smallest();  // everybody is the root of a broadcast and of a reduction
  Bound bound = cluster_broadcast_bound(cluster, least);
  if (Bound reduce = cluster_reduce_bound(cluster, least); reduce.time > bound.time) bound = std::move(reduce);
  return bound;
}

PlanPtr reduce_on_cluster(const Cluster& cluster, Rank root, bool commutative, Lanes lanes) {
  const Bound bound = cluster_reduce_bound(cluster, cluster.nodes.size(cluster.nodes.node_of(root)));
  Spread tree = tree_of_nodes(reduce_shape(cluster), cluster.nodes.count(), lanes == Lanes::leaders);
  PlanPtr plan = std::make_shared<ClusterReduce>(
      cluster, root, commutative,
      Claim{Time{0}, bound.time, bound.source,
            lanes == Lanes::leaders ? "leaders: one rank a node receives" : "lanes, reversed; the board folds first"},
      std::move(tree));
  if (lanes != Lanes::all || (cluster.nodes.uniform() && cluster.base.P > kMostFoldedOnEqualNodes)) return plan;
  const Problem problem{.kind = Kind::reduce, .root = root, .commutative = commutative};
  if (auto better = earliest_folding(cluster, problem, bound.time, plan->claim().finish))
    return std::make_shared<ListedClusterPlan>(std::move(*better), bound.source,
                                               "pieces of neighbouring ranks, each reached by one message");
  return plan;
}

}  // namespace chasqui::plan
