// SPDX-License-Identifier: MIT
// What a schedule file says of itself, held against the verifier and the planners.
#pragma once

#include <string>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::cli {

/// A schedule file states when it finishes and that nothing finishes earlier. Both are looked at before they are repeated.
struct Stated {
  bool legal = true;
  std::string doubts;  ///< lines for people that say what does not hold; empty where all does
};

/// One line for people when the schedule breaks the rules, empty when it is legal. `place` names it.
std::string illegal(const Schedule& schedule, const std::string& place);

/// Verifies the schedule. Where it states a bound that equals its finish and the planners prove less, its bound becomes
/// theirs. `place` names it in the doubts.
Stated check_stated(Schedule& schedule, const std::string& place);

}  // namespace chasqui::cli
