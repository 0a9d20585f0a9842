// SPDX-License-Identifier: MIT
// Who sends which colour to whom in the window of a kernel's endgame: one bipartite matching per step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

/// One rank in the window: when it can receive and send what is not from before, and the colours it gets.
struct EndgameRole {
  std::vector<int> receptions;       ///< steps, ascending
  std::vector<int> sends;            ///< steps, ascending
  std::vector<std::int8_t> colours;  ///< of the receptions; kNone: nothing comes
};

/// `colours` items from the source to all roles within `steps` steps.
struct Endgame {
  int L = 1;
  int steps = 0;
  int colours = 0;
  std::vector<EndgameRole> roles;
};

/// The window of a kernel, with its colours if it has any. Roles are numbered group by group.
Endgame endgame_of(const Kernel& kernel);

/// A message of the endgame. from = kNone is the source.
struct StepSend {
  int tau = 0;
  int from = kNone;
  int to = 0;
  int colour = 0;
};

/// The messages in order of (tau, from), the source first. Nothing if some step has no matching, that is, if (E2)
/// fails. Deterministic. Time: O(kappa M) in practice. REQUIRES at most 64 colours.
std::optional<std::vector<StepSend>> pair_endgame(const Endgame& endgame);

}  // namespace chasqui::plan::kernel
