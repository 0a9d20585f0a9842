// SPDX-License-Identifier: MIT
// Lower bounds that need no search: where the exact search starts, and often where it ends. The arithmetic is plan's.
#pragma once

#include "chasqui/plan/plan.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {

/// The best bound known without search (stream: no item has a smaller greatest delay).
plan::Bound lower_bound(const Instance& instance);

}  // namespace chasqui::solve
