// SPDX-License-Identifier: MIT
// Plans chosen by their worst case: `chasqui plan kitem|stream --robust`.
#pragma once

#include "chasqui/plan/collectives.hpp"

namespace chasqui::cli {

/// The k-item broadcast that finishes first when every latency may be anything in 1..L; a stream is judged by its first
/// k items. The claim keeps the bound for exact latency and names the worst case. Throws an Error for anything else.
plan::PlanPtr most_robust_plan(const plan::PlanPtr& planned, const plan::Request& request);

}  // namespace chasqui::cli
