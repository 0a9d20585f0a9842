// SPDX-License-Identifier: MIT
#include "plan/kernel/circle.hpp"

#include <algorithm>

#include "plan/kernel/placement.hpp"

namespace chasqui::plan::kernel {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The idle phase is a block of r = 0, or the hole of a node.
Placement blocks_of(const Tree& tree, bool idle) {
  Placement circle;
  circle.m = idle ? 1 : 0;
  for (const Node& node : tree.internal) circle.m += node.r;
  circle.blocks = tree.internal;
  const bool hole =
      std::any_of(circle.blocks.begin(), circle.blocks.end(), [](const Node& node) { return node.hole > 0; });
  if (idle && !hole) circle.blocks.push_back({});
  return circle;
}

/// Heights with one residue are interchangeable.
std::vector<int> by_residue(const Tree& tree, int m) {
  std::vector<int> required(at(m), 0);
  for (int h = 0; h <= tree.D; ++h) required[at(h % m)] += tree.leaves[at(h)];
  return required;
}

/// A random order of the blocks, and the best rotation of the leaves.
bool start(Placement& circle, Wanted& wanted, int L, Random& random) {
  if (!circle.shuffle(random)) return false;
  int best = -1;
  int best_shift = 0;
  for (int shift = 0; shift < std::min(circle.leaves(), 4 * L + 4); ++shift) {
    circle.rotate(shift);
    wanted.recount({&circle, 1});
    if (best < 0 || wanted.cost() < best) best = wanted.cost(), best_shift = shift;
  }
  circle.rotate(best_shift);
  wanted.recount({&circle, 1});
  return true;
}

bool anneal(Placement& circle, Wanted& wanted, std::int64_t iterations, Random& random) {
  if (circle.leaves() < 2) return wanted.cost() == 0;
  for (std::int64_t i = 0; i < iterations && wanted.cost() > 0; ++i) {
    const double temperature = 0.65 - 0.2 * static_cast<double>(i) / static_cast<double>(iterations);
    if (random.below(64) == 0) {
      wanted.exchange_blocks({&circle, 1}, 0, temperature, random);
    } else {
      wanted.exchange_leaves(circle, temperature, random);
    }
  }
  return wanted.cost() == 0;
}

}  // namespace

std::optional<Group> arrange_on_circle(const Tree& tree, int L, std::int64_t iterations, Random& random, bool idle) {
  Placement circle = blocks_of(tree, idle);
  Wanted wanted(by_residue(tree, circle.m));
  if (!start(circle, wanted, L, random) || !anneal(circle, wanted, iterations, random)) return std::nullopt;
  Group group = circle.inner_group();
  std::vector<int> left = tree.leaves;
  for (int i = 0; i < circle.leaves(); ++i) {
    int h = circle.height(i);
    while (left[at(h)] == 0) h += circle.m;
    --left[at(h)];
    group.H[at(circle.throws[at(i)])] = static_cast<std::int16_t>(h);
  }
  return group;
}

}  // namespace chasqui::plan::kernel
