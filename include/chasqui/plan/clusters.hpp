// SPDX-License-Identifier: MIT
// Collectives on clusters of nodes that share memory (docs/clusters.md): all ranks of a node send side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Who talks for a node.
enum class Lanes {
  all,      ///< whoever pays: from one rank to all of them
  leaders,  ///< one rank a node, as most libraries do it: to compare with
  one_entry,  ///< as `all`, but a broadcast enters every node once, and a reduction leaves it by one message: found without search
};

/// The plan of this problem: all kinds but sum and stream; reductions and all-reduces of one item. Throws an Error
/// for another one, for an invalid cluster or root, for times without a common unit whose table would be too large, and for
/// plans that are too long to list. Nodes of one rank each are planned as the plain machine is.
/// Equal nodes: local(r) needs no table of size P where there are very many ranks, whatever the collective. A broadcast of several items,
/// a scatter, a gather and the exchanges are lists where those are short and finish earlier. So are, on unequal nodes, all collectives; exchanges with
/// leaders are always lists.
PlanPtr on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes = Lanes::all);

/// No legal broadcast of one item takes less on this cluster (clusters.md, Theorem 4, clusters.md, Theorem 5 and clusters.md, Theorem 6).
Bound cluster_broadcast_bound(const Cluster& cluster);

/// A message of a round in which all nodes do the same: node i gets from node i + sender the contributions of `count` nodes from
/// i + window on. That is all that the sender knows, or all but its own: sender = window, or window - 1.
struct WindowPiece {
  std::int64_t sender = 0, window = 0, count = 0;
};
/// The rounds after which every one of N nodes knows all (clusters.md, Theorem 10): with radix k + 1 at most k pieces; none is empty. REQUIRES radices
/// of 2 or more whose product is N or more.
std::vector<std::vector<WindowPiece>> node_windows(std::int64_t N, const std::vector<std::int64_t>& radices);

/// As equal as possible, largest first: the least radix whose power reaches N, then as many as possible one less. REQUIRES N >= 1, rounds >= 1.
std::vector<std::int64_t> equal_radices(std::int64_t N, std::int64_t rounds);

/// How many nodes can be entered within `T`, N at most: E(T) of clusters.md, Definition 2, for nodes of the largest size.
std::int64_t nodes_entered(const Cluster& cluster, Time T);

}  // namespace chasqui::plan
