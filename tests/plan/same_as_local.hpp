// SPDX-License-Identifier: MIT
// Do the local forms of all ranks together equal the materialised schedule?
#pragma once

#include <algorithm>

#include "chasqui/plan/plan.hpp"

namespace chasqui {

inline bool same_as_local(const plan::Plan& plan) {
  const Schedule whole = plan.schedule();
  Schedule sent = whole, received = whole;
  sent.sends.clear();
  received.sends.clear();
  for (std::int32_t r = 0; r < plan.machine().P; ++r) {
    const LocalForm local = plan.local(Rank{r});
    if (!std::is_sorted(local.sends.begin(), local.sends.end())) return false;
    if (!std::is_sorted(local.receives.begin(), local.receives.end())) return false;
    for (const Send& send : local.sends) {
      if (send.from.index != r) return false;
      sent.sends.push_back(send);
    }
    for (const Send& send : local.receives) {
      if (send.to.index != r) return false;
      received.sends.push_back(send);
    }
  }
  normalise(sent);
  normalise(received);
  return sent == whole && received == whole;
}

}  // namespace chasqui
