// SPDX-License-Identifier: MIT
// Measured times on the page of `chasqui report`: plots and tables of one collective, and what they come to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chasqui/show/page.hpp"
#include "cli/plans/bench_data.hpp"

namespace chasqui::cli {

/// Predicted, measured and every rival: a plot (without sizes: bars) and a table for each run that has the collective.
void measured_part(show::Page& page, const std::vector<BenchData>& benches, const std::string& collective);

/// "x1.84" and of what: the geometric mean of each rival's time over ours, all single calls of one run.
std::vector<std::pair<std::string, std::string>> speed_ups(const std::vector<BenchData>& benches);

}  // namespace chasqui::cli
