// SPDX-License-Identifier: MIT
// The --json twins of what commands print for people. Schedules have a format of their own (schedule/json.hpp).
#pragma once

#include <string>

#include "chasqui/plan/plan.hpp"

namespace chasqui::cli {

/// {"collective", "machine", "problem", "finish", "bound", "optimal", "gap", "bound_source", "construction"}
std::string claim_json(const plan::Plan& plan);

/// The claim, and {"rank", "sends", "receives"} (sum: "operands", "adds") of one rank.
std::string local_json(const plan::Plan& plan, const LocalForm& local);

}  // namespace chasqui::cli
