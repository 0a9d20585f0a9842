// SPDX-License-Identifier: MIT
// The true optimum of a collective on a tiny cluster: nodes may be entered several times (docs/clusters.md, Computed evidence 11
// and Computed evidence 21).
#pragma once

#include "chasqui/model/cluster.hpp"
#include "chasqui/model/problem.hpp"
#include "chasqui/plan/plan.hpp"
#include "chasqui/solve/solve.hpp"

namespace chasqui::solve {

/// Broadcast, scatter, gather, all-gather, all-to-all, reduce-scatter, barrier, and a reduce, all-reduce or scan of one item. Broadcast
/// and reduce of one item try everything; the others ask the SAT solver. Time: exponential; about 12 ranks and a dozen ticks for one
/// item, 6 ranks where each has its own. All-reduce and scan: a message carries the fold of one interval, as without `two_values` on
/// machines without nodes; a reduce or a barrier may carry two. What ranks fold or tell there in the time that was found possible may, under
/// all names that were tried, be no intervals: then the answer is unknown, with the bound and the plan. Of the options it takes time_limit,
/// interrupted, at_most and warm_start.
/// Throws an Error for another kind, an invalid cluster or root, publish or read of 0, a cluster that is too large, and where the SAT
/// solver is needed and not part of this build.
Answer solve_on_cluster(const Cluster& cluster, const Problem& problem, const Options& options = {});

/// The better one of a plan on a cluster and the answer to its problem, with the answer's bound if that is better.
plan::PlanPtr with_answer(const plan::PlanPtr& plan, const Answer& answer);

}  // namespace chasqui::solve
