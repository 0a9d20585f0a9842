// SPDX-License-Identifier: MIT
// All-to-all: every rank has k items for every other, item (pP + q)k + i from rank p to rank q.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Time: L + (k(P-1) - 1)g without overhead: optimal. With overhead everybody sends straight, at common times or in turns of classes,
/// and the claim states bound and gap. One rank's part: O(its k(P-1) sends and receptions). Source: exchange.md, Theorem 17;
/// exchange.md, Theorem 19.
PlanPtr alltoall(const LogP& machine, std::int64_t items = 1);

/// No all-to-all is faster than an all-gather of as many items a rank. Throws as allgather_bound does. Source:
/// exchange.md, Theorem 16.
Time alltoall_bound(const LogP& machine, std::int64_t items = 1);

}  // namespace chasqui::plan
