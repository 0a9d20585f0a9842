// SPDX-License-Identifier: MIT
// Clusters and random numbers for the tests of plans on clusters.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>

#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

/// One of lo .. hi, which RapidCheck makes smaller where a test fails.
inline std::int64_t any_of(std::int64_t lo, std::int64_t hi) { return *rc::gen::inRange<std::int64_t>(lo, hi + 1); }

inline LogP logp(std::int64_t L, std::int64_t o, std::int64_t g) { return {1, Time{L}, Time{o}, Time{g}}; }

inline Cluster cluster(std::int64_t N, std::int64_t n, LogP base, std::int64_t gamma, std::int64_t publish,
                       std::int64_t read) {
  return Cluster::uniform(N, n, base, Time{gamma}, Time{publish}, Time{read});
}

/// Nearly the same cluster in ticks that are 10^8 times as fine, lengths without a common unit.
inline Cluster in_fine_ticks(const Cluster& coarse) {
  Cluster fine = coarse;
  constexpr std::int64_t kFiner = 100'000'000;
  for (Time* length : {&fine.base.o, &fine.base.g, &fine.nodes.gamma, &fine.nodes.publish, &fine.nodes.read}) {
    if (*length > Time{0}) *length = kFiner * *length - Time{any_of(0, 999)};
  }
  fine.base.L = kFiner * fine.base.L + Time{3001};  // a board is not slower than the network
  fine.nodes.gamma = std::min(fine.nodes.gamma, fine.base.gap());
  return fine;
}

}  // namespace chasqui::plan
