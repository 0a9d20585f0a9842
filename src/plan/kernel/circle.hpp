// SPDX-License-Identifier: MIT
// Structured search for one circulant group: the sends of an internal node are a block of consecutive phases, the
// node's item is thrown L before its block; the blocks and one idle phase tile the circle, and the leaves are a
// bijection from the free throw phases to the free landing phases, found by annealing.
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/base/random.hpp"
#include "plan/kernel/kernel.hpp"
#include "plan/kernel/tree.hpp"

namespace chasqui::plan::kernel {

/// A group with the heights of `tree`, or nothing after `iterations` moves. "Not found" proves nothing.
std::optional<Group> arrange_on_circle(const Tree& tree, int L, std::int64_t iterations, Random& random,
                                       bool idle = true);

}  // namespace chasqui::plan::kernel
