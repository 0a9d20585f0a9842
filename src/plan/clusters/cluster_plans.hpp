// SPDX-License-Identifier: MIT
// The planners of clusters, one a file, and what they share.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/clusters/trees/spread.hpp"
#include "plan/listed_plan.hpp"
#include "plan/listing.hpp"

namespace chasqui::plan {

PlanPtr broadcast_on_cluster(const Cluster& cluster, Rank root, Lanes lanes);
/// A tree of all nodes as if all were as large as the largest; in a coarser unit where the times are fine (clusters.md, Lemma 32).
/// On at most so many lanes.
Spread one_entry_tree(const Cluster& cluster, Lanes lanes, std::int64_t most = kSaturated);
/// Along it (clusters.md, Theorem 5). REQUIRES equal nodes.
PlanPtr one_entry_broadcast(const Cluster& cluster, Rank root, Lanes lanes, const Bound& bound, Spread tree);
/// Along a tree with as many lanes as its places have (clusters.md, Theorem 46), on nodes of any size.
PlanPtr broadcast_in_places(const Cluster& cluster, Rank root, Lanes lanes, const Bound& bound);
PlanPtr reduce_on_cluster(const Cluster& cluster, Rank root, bool commutative, Lanes lanes);
/// A reduction that ends before `before`, or nothing where none is found (clusters.md, Theorem 34). No reduction takes less than `bound`.
std::optional<Schedule> earliest_folding(const Cluster& cluster, const Problem& problem, Time bound, Time before);
/// An all-reduce or a barrier that ends before `before`, and how it was made; or nothing where none is found (clusters.md, Theorem 35).
std::optional<std::pair<Schedule, std::string>> earliest_grouped(const Cluster& cluster, const Problem& problem,
                                                                 Time bound, Time before);
/// All-reduce, and the barrier, which carries the same.
PlanPtr allreduce_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes);
/// One rank a node folds its node, takes part in the all-reduce of N ranks, and publishes the result.
PlanPtr allreduce_by_leaders(const Cluster& cluster, const Problem& problem, const Bound& bound);

PlanPtr scatter_on_cluster(const Cluster& cluster, Rank root, Lanes lanes);
PlanPtr gather_on_cluster(const Cluster& cluster, Rank root, Lanes lanes);
/// No scatter takes less (clusters.md, Theorem 16). Time: O(log P).
Bound scatter_bound(const Cluster& cluster, Rank root);
/// A scatter backwards, on the cluster with the costs of the board exchanged: what was published is read, what was read is
/// published. REQUIRES that every item is published and read once at most.
Schedule reversed_scatter(const Schedule& scatter, const Cluster& cluster);
/// All-gather, reduce-scatter and all-to-all.
PlanPtr exchange_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes);
PlanPtr items_on_cluster(const Cluster& cluster, Rank root, std::int64_t k, Lanes lanes);
/// When the root of a broadcast of k items can first do something with the last of them (clusters.md, Theorem 18): min over 0 <= x < k of max((x-1)G,
/// xo + (k-1-x)p), without the first of the two for x = 0. Time: O(log k).
std::int64_t root_turns_to_last_item(const Cluster& cluster, std::int64_t k);
PlanPtr scan_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes);
/// A scan, an all-reduce or a barrier that ends before `before`, or nothing where none is found (clusters.md, Theorems 37 and 39): the windows of
/// all ranks grow by themselves, in many orders (few ranks only), or those of all nodes. None takes less than `bound`.
std::optional<Schedule> earliest_windows_by_ranks(const Cluster& cluster, const Problem& problem, Time bound,
                                                  Time before);
std::optional<Schedule> earliest_ring_by_nodes(const Cluster& cluster, const Problem& problem, Time bound, Time before);
std::optional<Schedule> earliest_scan_by_nodes(const Cluster& cluster, const Problem& problem, Time bound, Time before);
/// One rank a node takes part in the scan of N ranks; every rank finds its part alone (clusters.md, Theorem 42).
PlanPtr scan_by_leaders(const Cluster& cluster, const Problem& problem, const Bound& bound);
/// Every node does the same at the same time, so that a rank finds its part alone.
PlanPtr scan_in_step(const Cluster& cluster, const Problem& problem, const Bound& bound);

/// The plan, or one that ends earlier since a harder collective's does (clusters.md, Theorem 41).
PlanPtr no_later_than_harder(const Cluster& cluster, PlanPtr plan);

/// No reduction takes less: backwards in time it is a broadcast with the costs of the board exchanged, and one that informs the ranks
/// of a node one after another (flow_together_bound).
Bound cluster_reduce_bound(const Cluster& cluster, std::int64_t root_size);
/// The same for broadcasts, from a node of so many ranks.
Bound cluster_broadcast_bound(const Cluster& cluster, std::int64_t root_size);
/// Neither takes less where everybody hears from everybody.
Bound cluster_exchange_bound(const Cluster& cluster);
/// When the last of unequal nodes can be entered in a broadcast from a node of `root_size` ranks, and all ranks be informed.
struct UnequalTimes {
  Time entered, informed;
};
/// Nothing for equal nodes and for very many ranks (clusters.md, Theorem 33). Time: O(P log P).
std::optional<UnequalTimes> unequal_broadcast_times(const Cluster& cluster, std::int64_t root_size);
/// No rank of such a node has heard from all others earlier; 0 where the other one says nothing. Time: O(P log P).
Time unequal_flow_time(const Cluster& cluster, std::int64_t root_size);
/// Backwards in time, when a board has reached one more rank of `count`: the labels of the tree of clusters.md, Theorem 8, sorted.
std::vector<std::int64_t> board_labels(const Nodes& nodes, std::int64_t count);
/// In less time no rank hears from all others (clusters.md, Theorem 26). Time: as Spread, one habit.
Time flow_together_bound(const Cluster& cluster);

/// What the ranks of one node fold on its board before anything else, and who ends up with it (clusters.md, Theorem 8). Places
/// are counted from the leader on, around the end of the node.
class BoardFold {
 public:
  BoardFold(const Nodes& nodes, std::int64_t size);

  std::int64_t time() const { return time_; }  ///< when the leader has the contributions of all ranks of the node
  /// Adds what the rank at `place` does, on a node whose first rank is `first`. At least one of the lists is wanted.
  void events(std::int64_t first, std::int64_t leader, std::int64_t place, std::vector<Publication>& publications,
              std::vector<Reading>& readings) const;

 private:
  /// The contributions of so many ranks from a place on: two parts where they pass the end of the node.
  std::pair<Part, Part> parts(std::int64_t first, std::int64_t leader, std::int64_t place, std::int64_t count) const;
  Rank rank(std::int64_t first, std::int64_t leader, std::int64_t place) const;

  Time publish_, read_;
  std::int64_t size_, time_ = 0;
  std::optional<UniversalTree> tree_;  ///< nothing where reading is free: then the leader reads all at once
};

/// One for each size of node.
class BoardFolds {
 public:
  explicit BoardFolds(const Nodes& nodes);

  std::int64_t time() const { return time_; }  ///< when the leaders of all nodes have the contributions of their nodes
  /// REQUIRES that a node has this size.
  const BoardFold& of(std::int64_t size) const { return folds_.at(size); }

 private:
  std::map<std::int64_t, BoardFold> folds_;
  std::int64_t time_ = 0;
};

}  // namespace chasqui::plan
