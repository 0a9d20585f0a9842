// SPDX-License-Identifier: MIT
// All-reduce: every rank ends with the fold of all contributions, for every P.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: B(P) on the postal machine, optimal for every P; on the strict machine the claim states bound and
/// gap. Not commutative: the part of a window that wrapped around travels apart, in Send::second, and a rank
/// ends with (unwrapped) then (wrapped) in rank order. Same time. One rank's part: O(its rounds). Source:
/// exchange.md, Theorem 4.
PlanPtr allreduce(const LogP& machine, bool commutative = true);

/// For all-reduce and barrier: B(P), and with overhead what follows from the first messages (exchange.md, Theorem 7).
Bound allreduce_bound(const LogP& machine);

}  // namespace chasqui::plan
