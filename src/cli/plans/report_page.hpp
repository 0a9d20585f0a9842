// SPDX-License-Identifier: MIT
// The page of `chasqui report`: a machine's profile, plans for it, and measured times.
#pragma once

#include <string>
#include <vector>

#include "chasqui/model/profile.hpp"
#include "cli/plans/bench_data.hpp"

namespace chasqui::cli {

struct ReportInput {
  Profile profile;
  std::int64_t drawn = 16;         ///< processors of the drawn plans
  std::vector<BenchData> benches;  ///< the first was made with `profile`
};

std::string report_page(const ReportInput& input);

}  // namespace chasqui::cli
