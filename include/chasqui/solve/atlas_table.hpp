// SPDX-License-Identifier: MIT
// The atlas as a page for people: docs/atlas.md is the output of this function for data/atlas.txt.
#pragma once

#include <string>

#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {

/// Markdown: one table per family and machine; with `compare_plans` also where the plans of this build miss the optimum.
std::string atlas_table(const Atlas& atlas, bool compare_plans = true);

}  // namespace chasqui::solve
