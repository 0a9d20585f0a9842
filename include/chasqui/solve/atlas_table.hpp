// SPDX-License-Identifier: MIT
// The atlas as a page for people: docs/atlas.md is the output of this function for data/atlas.txt.
#pragma once

#include <string>

#include "chasqui/solve/atlas.hpp"

namespace chasqui::solve {

/// Markdown: one table per family and machine, with the places where the plans miss the optimum.
std::string atlas_table(const Atlas& atlas);

}  // namespace chasqui::solve
