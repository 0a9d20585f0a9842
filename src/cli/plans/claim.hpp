// SPDX-License-Identifier: MIT
// How good a plan is and what one rank does in it: for people, and as JSON for programs. Schedules have a format of their own
// (schedule/json.hpp).
#pragma once

#include <string>

#include "chasqui/plan/plan.hpp"
#include "cli/frame/output.hpp"

namespace chasqui::cli {

/// "P=8 L=6 o=2 g=4", of a cluster "N=4 n=2 L=6 …".
std::string machine_text(const plan::Plan& plan);

/// "finish 24 (optimal)", the bound with its source, the construction: a few lines within the output's width.
std::string claim_text(const plan::Plan& plan, const Output& out);
/// {"collective", "machine", "problem", "finish", "bound", "optimal", "gap", "bound_source", "construction"}
std::string claim_json(const plan::Plan& plan);

/// The sends, receptions and additions of one rank as a table; of a very long one its ends.
std::string local_text(const plan::Plan& plan, const LocalForm& local, const Output& out);
/// The claim, and {"rank", "sends", "receives"} (sum: "operands", "adds") of one rank.
std::string local_json(const plan::Plan& plan, const LocalForm& local);

}  // namespace chasqui::cli
