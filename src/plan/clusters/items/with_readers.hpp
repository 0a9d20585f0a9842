// SPDX-License-Identifier: MIT
// Nodes of any size do what equal nodes do of as many ranks as the smallest has, and one that only reads (clusters.md, Theorem 48).
#pragma once

#include <cstdint>
#include <functional>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// make(equal, problem, lanes) plans the broadcast on equal nodes of lanes + 1 ranks, with the root first in its node, whose last rank must only
/// read, each item once. Nothing where there are too many nodes, or where that is planned as nothing. REQUIRES unequal nodes.
PlanPtr with_readers(const Cluster& cluster, const Problem& problem,
                     const std::function<PlanPtr(const Cluster& equal, const Problem&, std::int64_t lanes)>& make);

}  // namespace chasqui::plan
