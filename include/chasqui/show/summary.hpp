// SPDX-License-Identifier: MIT
// What is left to say when a picture would be unreadable: counts and a histogram of receptions over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::show {

struct Summary {
  std::string title;
  std::int64_t P = 0;
  std::int64_t messages = 0;
  std::int64_t additions = 0;
  std::int64_t most_sent = 0;      ///< by one rank
  std::int64_t most_received = 0;  ///< by one rank
  struct Bucket {
    Time from;  ///< inclusive
    Time to;    ///< exclusive
    std::int64_t receptions = 0;
  };
  std::vector<Bucket> histogram;  ///< of the times at which messages become available
};

/// Time: O(messages). Memory does not grow with P.
Summary summarise(const Schedule& schedule, int buckets = 16);

}  // namespace chasqui::show
