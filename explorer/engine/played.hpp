// SPDX-License-Identifier: MIT
// A schedule under a latency policy: when it really finishes, and the timeline of what happened.
#pragma once

#include <optional>
#include <string>

#include "chasqui/schedule/trace.hpp"
#include "explorer/engine/question.hpp"

namespace chasqui::explorer {

struct Played {
  Trace trace;
  std::string note;  ///< how the adversary was found, if there is one
};

/// REQUIRES a legal schedule. Throws Error for a policy that does not exist or does not fit the machine.
Played play(const Schedule& schedule, const Play& how);

/// Does the play differ at all from the plan?
bool is_plain(const Play& how);

}  // namespace chasqui::explorer
