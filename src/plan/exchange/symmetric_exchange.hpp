// SPDX-License-Identifier: MIT
// All ranks send to r+1, r+2, … at the same times: all-gather of everybody's own items, and all-to-all.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/symmetric_times.hpp"

namespace chasqui::plan {

/// The sender's item `number` of its own (all-gather), or for `to` (all-to-all).
Send exchange_message(const LogP& machine, const Problem& problem, Time begin, std::int64_t from, std::int64_t to,
                      std::int64_t number);

/// Send j of rank r goes to rank r + 1 + j mod (P-1), a permutation in every slot, and carries its item number j / (P-1): of its own,
/// or (all-to-all) for that rank. REQUIRES allgather or alltoall with k items, and k(P-1) times. Source: exchange.md, Theorems 10 and 17.
PlanPtr symmetric_exchange(const LogP& machine, const Problem& problem, Claim claim, SymmetricTimes times);

/// At the best times found; fills in the claim's finish.
PlanPtr symmetric_exchange(const LogP& machine, const Problem& problem, Claim claim);

}  // namespace chasqui::plan
