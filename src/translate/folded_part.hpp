// SPDX-License-Identifier: MIT
// A fold of some ranks' contributions as a message of the model names it.
#pragma once

#include "chasqui/schedule/schedule.hpp"
#include "translate/contributions.hpp"

namespace chasqui::translate {

/// False where it would take more than two intervals.
inline bool set_parts(Send& message, const Contributions& from) {
  const std::vector<Part> parts = from.intervals();
  if (parts.empty() || parts.size() > 2) return false;
  message.part = parts[0];
  if (parts.size() == 2) message.second = parts[1];
  return true;
}

}  // namespace chasqui::translate
