// SPDX-License-Identifier: MIT
// Reduce-scatter: every rank contributes to every item; rank r gets the folds of the items rk .. rk+k-1.
#pragma once

#include <cstdint>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// The all-gather of k items a rank, backwards in time: the same finish, the same bound, and optimal where that is. A message
/// hands over all that its sender has of an item. In rank order (not commutative) only the symmetric all-gather will do:
/// what it hands over are single contributions. Source: exchange.md, Theorem 18.
PlanPtr reduce_scatter(const LogP& machine, std::int64_t items = 1, bool commutative = true);

}  // namespace chasqui::plan
