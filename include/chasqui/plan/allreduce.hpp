// SPDX-License-Identifier: MIT
// All-reduce: every rank ends with the fold of all contributions, for every P.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: B(P) on the postal machine, optimal for every P; on the strict machine the claim states bound and
/// gap. Not commutative: the part of a window that wrapped around travels apart, in Send::second, and a rank
/// ends with (unwrapped) then (wrapped) in rank order. Same time. One rank's part: O(its rounds). Source:
/// exchange.md, Theorem 4.
PlanPtr allreduce(const LogP& machine, bool commutative = true);

/// K items, each folded at every rank, a message carrying one of them. A multiple of P items: reduce-scatter, then all-gather,
/// at most one message time from the bound where each of the two is optimal; otherwise the better known of that and a
/// reduction and a broadcast in turn. Source: exchange.md, Theorem 22.
PlanPtr allreduce_items(const LogP& machine, std::int64_t items, bool commutative = true);

/// No schedule of it finishes earlier. Source: exchange.md, Theorem 22. REQUIRES a valid machine, items >= 1.
Bound allreduce_items_bound(const LogP& machine, std::int64_t items);

/// For all-reduce and barrier: B(P), and with overhead what follows from the first messages (exchange.md, Theorem 7).
Bound allreduce_bound(const LogP& machine);

}  // namespace chasqui::plan
