// SPDX-License-Identifier: MIT
// Ranks counted from the root: index 0 is the root, index i the rank (root + i) mod P.
#pragma once

#include <cstdint>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

struct Rotation {
  std::int64_t P;
  Rank root;

  Rank rank(std::int64_t index) const {
    const std::int64_t sum = index + root.index;
    return {static_cast<std::int32_t>(sum < P ? sum : sum - P)};
  }
  std::int64_t index(Rank rank) const {
    const std::int64_t difference = std::int64_t{rank.index} - root.index;
    return difference < 0 ? difference + P : difference;
  }
};

}  // namespace chasqui::plan
