// SPDX-License-Identifier: MIT
// Collectives on clusters of nodes that share memory (docs/clusters.md): all ranks of a node send side by side.
#pragma once

#include <cstdint>
#include <string_view>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Who talks for a node.
enum class Lanes {
  all,      ///< whoever pays: from one rank to all of them
  leaders,  ///< one rank a node, as most libraries do it: to compare with
};

/// The plan of this problem: one item broadcast, reduce of one item, all-reduce, barrier. Throws an Error for another kind,
/// for an invalid cluster or root, and for times without a common unit whose table would be too large.
/// Broadcast and reduce on equal nodes: local(r) needs no table of size P; everything else lists its messages.
PlanPtr on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes = Lanes::all);

/// No legal broadcast of one item takes less on this cluster (clusters.md, Theorem 4, clusters.md, Theorem 5 and clusters.md, Theorem 6).
Bound cluster_broadcast_bound(const Cluster& cluster);

/// How many nodes can be entered within `T`, N at most: E(T) of clusters.md, Definition 2, for nodes of the largest size.
std::int64_t nodes_entered(const Cluster& cluster, Time T);

}  // namespace chasqui::plan
