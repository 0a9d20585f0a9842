// SPDX-License-Identifier: MIT
// All-reduce: every rank ends with the fold of all contributions, for every P.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: B(P) on the postal machine, optimal for every P; on the strict machine the claim states bound and
/// gap. Not commutative: the part of a window that wrapped around travels apart, in Send::second, and a rank
/// ends with (unwrapped) then (wrapped) in rank order. Same time. One rank's part: O(its rounds). Source:
/// results.md, "All-to-all collectives".
PlanPtr allreduce(const LogP& machine, bool commutative = true);

/// For all-reduce and barrier: B(P), and on the strict machine what follows from the first messages (results.md A4).
Bound allreduce_bound(const LogP& machine);

}  // namespace chasqui::plan
