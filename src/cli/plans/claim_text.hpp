// SPDX-License-Identifier: MIT
// How good a plan is, for people.
#pragma once

#include <string>

#include "chasqui/plan/plan.hpp"
#include "cli/frame/output.hpp"

namespace chasqui::cli {

/// "finish 24 (optimal)", the bound with its source, the construction: a few lines within the output's width.
std::string claim_text(const plan::Plan& plan, const Output& out);

/// The sends, receptions and additions of one rank as a table.
std::string local_text(const plan::Plan& plan, const LocalForm& local, const Output& out);

}  // namespace chasqui::cli
