// SPDX-License-Identifier: MIT
// A plain machine is a cluster whose nodes have one rank each. What is planned one message after another, each as early as the rules
// allow (clusters.md, Lemma 15), is written for clusters and asked for here on the plain machine (items.md, Theorem 18;
// exchange.md, Theorem 23).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// `best`, or, where that is not known to be optimal, a list of messages that finishes earlier; with the better of their bounds. There
/// are such lists for broadcasts and reductions of several items and for scans, up to some thousands of messages.
PlanPtr or_listed(PlanPtr best);

/// The plan with another claim, on these nodes; without any, on the plain machine. REQUIRES nodes of one rank, or none.
PlanPtr on_single_ranks(PlanPtr plan, const Nodes& nodes, Claim claim);

}  // namespace chasqui::plan
