// SPDX-License-Identifier: MIT
// What is left to say when a picture would be unreadable: counts and a histogram of receptions over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {
/// What is said of a schedule too large to draw.
struct Summary {
  std::string title;               ///< heading
  std::int64_t P = 0;              ///< processors
  std::int64_t messages = 0;       ///< of all ranks together
  std::int64_t additions = 0;      ///< of all ranks together; 0 for what is not a sum
  std::int64_t most_sent = 0;      ///< by one rank
  std::int64_t most_received = 0;  ///< by one rank
  /// A span of time.
  struct Bucket {
    Time from;                    ///< inclusive
    Time to;                      ///< exclusive
    std::int64_t receptions = 0;  ///< that end in it
  };
  std::vector<Bucket> histogram;  ///< of the times at which messages become available
};

/// Time: O(messages). Memory does not grow with P.
Summary summarise(const Schedule& schedule, int buckets = 16);

}  // namespace chasqui::show
