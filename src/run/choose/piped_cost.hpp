// SPDX-License-Identifier: MIT
// One leader a node with a long value in items.
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/run/choose.hpp"

namespace chasqui::run {

/// One leader a node with a long value in items, whose boards work while messages are under way (piped.hpp).
struct Piped {
  std::int64_t items = 1;
  double nanoseconds = 0;
};
/// With the best number of items; nothing where it is not faster than messages and boards one after the other.
std::optional<Piped> piped_leaders(const Query& query, const Topology& topology, const Profile& profile);

}  // namespace chasqui::run
