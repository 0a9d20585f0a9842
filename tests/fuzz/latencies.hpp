// SPDX-License-Identifier: MIT
// What every table of latencies promises, whatever the bytes that it was read from.
#pragma once

#include "chasqui/simulate/latency.hpp"
#include "require.hpp"

namespace chasqui {

/// Of a machine of `ranks` ranks.
inline void require_latencies(const simulate::Latency& latency, std::int32_t ranks) {
  for (std::int32_t from = 0; from < ranks; ++from) {
    for (std::int32_t to = 0; to < ranks; ++to) {
      const Time time = latency(send_item(Time{0}, Rank{from}, Rank{to}, 0), 0);
      require(time >= Time{1} && time.ticks <= kMaxParameter, "every latency is in range");
    }
  }
}

}  // namespace chasqui
