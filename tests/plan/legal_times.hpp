// SPDX-License-Identifier: MIT
// Is a whole set of send times legal, taken one by one?
#pragma once

#include "plan/exchange/send_times.hpp"

namespace chasqui::plan {

inline bool legal(const SendTimes& times, const Spacing& spacing) {
  SendTimes before;
  for (const std::int64_t t : times) {
    if (!before.empty() && (t < before.back() + spacing.G || !legal_after(before, spacing, t))) return false;
    before.push_back(t);
  }
  return true;
}

}  // namespace chasqui::plan
