// SPDX-License-Identifier: MIT
// Lower bounds that need no search: where the exact search starts, and often where it ends.
#pragma once

#include <string>

#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {
/// A lower bound and where it comes from.
struct Bound {
  Time time;           ///< no legal schedule finishes earlier (stream: no item has a smaller greatest delay)
  std::string source;  ///< the argument, in a few words
};

/// The best bound known without search. Time: O(finish) evaluations of the universal tree.
/// Source: docs/results.md, Exact schedules.
Bound lower_bound(const Instance& instance);

/// k items from one source: in any window of G ticks each holder sends once and each of the P-1 receivers receives once, so
/// λ + min{ t : Σ_j min(P(t - jG), P-1) >= k(P-1) }. Postal machine: the counting bound.
Time counting_bound(const LogP& machine, std::int64_t items);

/// The same when the source sends each item once: (k-1)G + λ + B(P-1).
Time single_sending_bound(const LogP& machine, std::int64_t items);

/// Continuous broadcast: λ + B(P-1); on the postal machine with L = 2 one more where the letters do not balance.
Time stream_bound(const LogP& machine);

}  // namespace chasqui::solve
