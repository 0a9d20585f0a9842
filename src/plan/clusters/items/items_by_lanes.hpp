// SPDX-License-Identifier: MIT
// Broadcasts of several items in which a rank finds its own part alone: on equal nodes nothing grows with the number of nodes.
#pragma once

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/clusters.hpp"

namespace chasqui::plan {

/// The broadcast of one item, once for every item, as soon after one another as no node has to do with two of them (clusters.md,
/// Theorem 30). On at most so many lanes, here and below. REQUIRES equal nodes.
PlanPtr repeated_on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound,
                            std::int64_t most_lanes = kSaturated);

/// Item i travels on lane i mod `lanes` of every node, in steps that are the same for all (clusters.md, Theorem 30). On unequal nodes the claim takes
/// time for every node. REQUIRES two nodes or more, of so many ranks or more, and as many items.
PlanPtr dealt_to_lanes(const Cluster& cluster, const Problem& problem, std::int64_t lanes, const Bound& bound);

/// The best of these two; on unequal nodes the second, of which there must be two or more.
PlanPtr spread_in_step(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound,
                       std::int64_t most_lanes = kSaturated);

/// Every item spreads among the nodes of one class by one of these two, then all classes exchange what they have (clusters.md, Theorem 31).
/// Nothing where the nodes cannot be shared out so. REQUIRES equal nodes of two ranks or more, 2 <= classes <= items.
PlanPtr dealt_to_classes(const Cluster& cluster, const Problem& problem, std::int64_t classes, const Bound& bound,
                         std::int64_t most_lanes = kSaturated);

/// The best of all. local() throws an Error where one rank alone has too much to do to list it.
PlanPtr items_in_step(const Cluster& cluster, const Problem& problem, Lanes lanes, const Bound& bound);

}  // namespace chasqui::plan
