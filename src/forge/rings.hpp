// SPDX-License-Identifier: MIT
// A tree arranged on circles by annealing: the sends of an internal node are a block of consecutive phases, the node's
// item is thrown L before its block; the blocks tile the circle, and the leaves are a bijection from the free throw
// phases to the free landing phases. docs/items.md, "Making and using kernels".
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "forge/tree.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::forge {

using namespace plan::kernel;

/// Metropolis' rule, by which all annealing here goes: a move that does not raise the cost is accepted, another one with a
/// chance that falls with its price and with the temperature.
inline bool accept(int change, double temperature, Random& random) {
  return change <= 0 || random.unit() < std::exp(-change / temperature);
}

/// One circulant group with the heights of `tree`, or nothing after `iterations` moves; "not found" proves nothing.
/// idle: one phase of the circle has no sends.
std::optional<Group> arrange_on_circle(const Tree& tree, int L, std::int64_t iterations, Random& random,
                                       bool idle = true);

/// The internal nodes of one circle and the balls it shall have: the mean height of its ranks. Its size is the number of
/// its nodes' children; it is larger than every leaf's height.
struct Ring {
  std::vector<Node> nodes;
  int balls = 0;
};

/// Several circles at once, and which leaf heights fall to which is left to the annealing: groups on which the nodes of
/// the rings and `leaves` (by height, of all rings together) have a place each, or nothing after so many moves.
/// Time: about 20 million moves a second. REQUIRES no node with a hole.
std::optional<std::vector<Group>> arrange_on_rings(const std::vector<Ring>& rings, const std::vector<int>& leaves,
                                                   std::int64_t moves, Random& random);

}  // namespace chasqui::forge
