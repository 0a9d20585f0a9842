// SPDX-License-Identifier: MIT
// The page of `chasqui report`: a machine's profile, plans for it, and measured times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "chasqui/show/page.hpp"
#include "cli/plans/bench_data.hpp"

namespace chasqui::cli {

struct ReportInput {
  Profile profile;
  bool guessed = false;            ///< nobody has measured: `profile` is built in
  std::int64_t drawn = 16;         ///< processors of the drawn plans
  std::vector<BenchData> benches;  ///< the first was made with `profile`
};

std::string report_page(const ReportInput& input);

/// Predicted, measured and every rival: a plot (without sizes: bars) and a table for each run that has the collective.
void measured_part(show::Page& page, const std::vector<BenchData>& benches, const std::string& collective);

/// "x1.84" and of what: the geometric mean of each rival's time over ours, all single calls of one run.
std::vector<std::pair<std::string, std::string>> speed_ups(const std::vector<BenchData>& benches);

}  // namespace chasqui::cli
