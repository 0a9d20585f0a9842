// SPDX-License-Identifier: MIT
// Plans made better by exact search: from the atlas wherever it has something better, by the solver when asked.
#pragma once

#include <string>

#include "chasqui/plan/plan.hpp"
#include "chasqui/solve/solve.hpp"
#include "cli/frame/progress.hpp"

namespace chasqui::cli {

/// The atlas' witness if it finishes earlier than the plan, or if its bound is better; otherwise the plan.
plan::PlanPtr improve_by_atlas(const plan::PlanPtr& plan);

/// The solver's answer, in at most so many seconds (0: until it is done, or Ctrl-C). Throws Error for a plan that the
/// solver has no question for.
plan::PlanPtr improve_by_search(const plan::PlanPtr& plan, double seconds);

/// The search ends at Ctrl-C (REQUIRES an Interrupt) and says in `bar` where it is; `what` opens the line.
void watch(solve::Options& options, Progress& bar, const std::string& what = {});

}  // namespace chasqui::cli
