// SPDX-License-Identifier: MIT
// What a schedule of a harder collective does, cut to what an easier one needs (docs/clusters.md, Theorem 41): no event gets another time, so no rule
// of the machine is broken.
#pragma once

#include <optional>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Of the events of a schedule, whatever they carry, those by which an item of the root reaches every other rank first. Nothing where they
/// do not reach all. Time: O(E log E) for E events.
std::optional<Schedule> broadcast_within(const Schedule& harder, Rank root);

/// A reduction, a gather or a scan along the events of a schedule that folds intervals, or in which item r is the contribution of rank r: an all-reduce, a
/// gather, an all-gather of one item a rank. A gather is cut out of what carries items only. Nothing where what is promised cannot be folded. Time: O(E²) at worst.
std::optional<Schedule> folds_within(const Schedule& harder, const Problem& problem);

/// The same events for a problem that is solved by what they carry: a barrier by an all-reduce. Finish and construction of the claim become those of
/// the plan.
PlanPtr with_problem(PlanPtr plan, const Problem& problem, Claim claim);

/// Every contribution goes straight to where it is folded, as the item that one rank has for another. REQUIRES that nobody but its owner passes an
/// item of the all-to-all on. Finish and construction of the claim are made here.
PlanPtr reduce_scatter_by_alltoall(const Problem& problem, PlanPtr alltoall, Claim claim);

}  // namespace chasqui::plan
