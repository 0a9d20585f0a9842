// SPDX-License-Identifier: MIT
// The true optimum of a broadcast or a reduction on a tiny cluster, by trying everything: nodes may be entered several times
// (docs/clusters.md, Computed evidence 11).
#pragma once

#include "chasqui/model/cluster.hpp"
#include "chasqui/solve/solve.hpp"

namespace chasqui::solve {

/// One item from `root` to all ranks. Time: exponential; about 12 ranks and a dozen ticks. Of the options it takes time_limit,
/// interrupted and at_most. Throws an Error for an invalid cluster or root, and for publish or read of 0.
Answer solve_broadcast(const Cluster& cluster, Rank root, const Options& options = {});

/// The contributions of all ranks folded at `root`, in any order. An optimum that is less than the plan takes has no schedule: what
/// ranks fold there need not be intervals. The bound is the optimum.
Answer solve_reduce(const Cluster& cluster, Rank root, const Options& options = {});

}  // namespace chasqui::solve
