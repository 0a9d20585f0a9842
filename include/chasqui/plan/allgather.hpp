// SPDX-License-Identifier: MIT
// All-gather (all-to-all broadcast): every rank owns k items, rank r the items rk .. rk+k-1, and everybody gets all.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: L + k(P-1) - 1 on the postal machine, L + (k(P-1) - 1)g without overhead: optimal. With overhead the
/// best of a symmetric pattern and of rings of classes; the claim names it and states bound and gap. One
/// rank's part: O(its k(P-1) sends and receptions). Source: exchange.md, Theorem 10.
PlanPtr allgather(const LogP& machine, std::int64_t items = 1);

/// What one rank needs that makes n sends and n receptions: a lower bound for an all-gather with n = k(P-1).
/// Throws an Error for more than 2^31 items in all. Time: O(log n). Source: exchange.md, Theorem 9.
Time allgather_bound(const LogP& machine, std::int64_t items = 1);

}  // namespace chasqui::plan
