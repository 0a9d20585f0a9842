// SPDX-License-Identifier: MIT
// The fold of one contribution per rank, at the root: the broadcast run backwards. Finish: B(P), optimal.
// Order is kept: subtrees are intervals of ranks counted from the root, and without commutativity the one interval
// that passes the end of the rank order travels as two values.
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Contributions of all ranks folded at the root; not commutative: in rank order.
PlanPtr reduce(const LogP& machine, Rank root = {}, bool commutative = true);

}  // namespace chasqui::plan
