// SPDX-License-Identifier: MIT
// Symmetry breaking by time: "the first event of a comes before the first event of b". Events are literals by tick,
// 0 where none can be.
#pragma once

#include <algorithm>
#include <vector>

#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {

/// Literal t of the result: one of the events 0 .. t happens.
inline std::vector<Literal> seen_by(Cnf& cnf, const std::vector<Literal>& events) {
  std::vector<Literal> seen;
  for (const Literal event : events) {
    const Literal now = cnf.fresh();
    std::vector<Literal> some{-now};
    if (!seen.empty()) {
      cnf.clause({-seen.back(), now});
      some.push_back(seen.back());
    }
    if (event != 0) {
      cnf.clause({-event, now});
      some.push_back(event);
    }
    cnf.clause(some);
    seen.push_back(now);
  }
  return seen;
}

/// b's first event comes after a's. Both from seen_by.
inline void strictly_before(Cnf& cnf, const std::vector<Literal>& a, const std::vector<Literal>& b) {
  if (!b.empty()) cnf.clause({-b[0]});
  for (std::size_t t = 1; t < std::min(a.size() + 1, b.size()); ++t) cnf.clause({-b[t], a[t - 1]});
}

}  // namespace chasqui::solve
