// SPDX-License-Identifier: MIT
// "Did you mean …?": the candidate with the least edit distance, if it is near enough to be a slip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chasqui::cli {

/// Empty when nothing is near. Time: O(candidates * length^2).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// " (did you mean X?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace chasqui::cli
