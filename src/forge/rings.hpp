// SPDX-License-Identifier: MIT
// A tree arranged on several circles at once: which leaf heights fall to which circle is left to the annealing. What
// special kernels are made of; one circle alone is circle.hpp. docs/kernels.md, "Merging".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/kernel/kernel.hpp"
#include "plan/kernel/tree.hpp"

namespace chasqui::plan::kernel {

/// The internal nodes of one circle and the balls it shall have: the mean height of its ranks. Its size is the number of
/// its nodes' children; it is larger than every leaf's height.
struct Ring {
  std::vector<Node> nodes;
  int balls = 0;
};

/// Groups on which the nodes of the rings and `leaves` (by height, of all rings together) have a place each, or nothing
/// after so many moves. Time: about 20 million moves a second. REQUIRES no node with a hole.
std::optional<std::vector<Group>> arrange_on_rings(const std::vector<Ring>& rings, const std::vector<int>& leaves,
                                                   std::int64_t moves, Random& random);

}  // namespace chasqui::plan::kernel
