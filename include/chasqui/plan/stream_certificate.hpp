// SPDX-License-Identifier: MIT
// The finite certificate behind "every P": all base cases of one latency, made again and checked.
#pragma once

#include <cstdint>
#include <string>

namespace chasqui::plan {
/// What settles one latency for every P, or the first case that does not.
struct StreamCertificate {
  std::int64_t L = 0;      ///< the latency
  std::int64_t cases = 0;  ///< base cases balanced
  std::int64_t first = 0;  ///< composition starts at this height of the tree
  std::int64_t K = 0;      ///< the co-letter of the receive-only rank there
  std::string failure;     ///< the first base case without a solution; empty: every P reaches L + B(P-1)

  bool holds() const { return failure.empty(); }  ///< every P has a stream of the least delay
};

/// Time: about 0.1 s at L = 24 and 5 s at L = 100. REQUIRES 3 <= L <= 200.
StreamCertificate certify_streams(std::int64_t L);

}  // namespace chasqui::plan
