// SPDX-License-Identifier: MIT
// What can be derived from a schedule and is therefore not stored in it.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui {

/// The last availability or end of an addition; 0 if nothing happens. Time: O(n).
Time actual_finish(const Schedule& schedule);

/// One processor's share.
struct RankMetrics {
  std::int64_t sends = 0;       ///< messages it sends
  std::int64_t receptions = 0;  ///< messages it receives
  std::int64_t additions = 0;   ///< additions it makes
  std::int64_t depth = 0;       ///< messages on the longest chain of cause and effect that ends here
  Time ready{0};                ///< the last thing that reaches it or that it computes
};
/// The whole schedule in numbers.
struct Metrics {
  Time finish;                       ///< last availability or addition
  std::int64_t messages = 0;         ///< sends
  std::int64_t additions = 0;        ///< of all ranks together
  std::int64_t most_sends = 0;       ///< of any rank: the out-degree
  std::int64_t most_receptions = 0;  ///< of any rank: the in-degree
  std::int64_t depth = 0;            ///< the longest chain of messages, each sent when the one before was available
  Time busy{0};                      ///< overheads and additions of all ranks together
  std::vector<RankMetrics> ranks;    ///< by rank

  /// The share of all processors' time until the finish spent on overheads and additions, in 0 .. 1. For people only.
  double utilisation() const;
};

/// Counts and chains. Time: O(P + n log n), O(P + n) for schedules in canonical order; memory: O(P).
/// REQUIRES: ranks exist (verify says so otherwise). Streams: one period of the list as it stands.
Metrics measure(const Schedule& schedule);

}  // namespace chasqui
