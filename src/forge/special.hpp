// SPDX-License-Identifier: MIT
// Finds special kernels, those that larger ones are merged from. docs/items.md, Definition 7.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "plan/kernel/kernel.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

/// The processors, from .. to, of the L lowest consecutive levels, and `more`, at which the tree has leaves enough for
/// the root group.
std::pair<int, int> base_processors(int L, int more = 0);

/// A special kernel whose others are one group or two. Nothing after `attempts` trees proves nothing.
std::optional<Kernel> search_special(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed);

}  // namespace chasqui::forge
