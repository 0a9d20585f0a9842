// SPDX-License-Identifier: MIT
#include "forge/rings.hpp"

#include <algorithm>
#include <cstdlib>

#include "forge/placement.hpp"

namespace chasqui::forge {
namespace {

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

std::vector<Placement> circles_of(const std::vector<Ring>& rings) {
  std::vector<Placement> circles;
  for (const Ring& ring : rings) {
    Placement& circle = circles.emplace_back();
    circle.blocks = ring.nodes;
    for (const Node& node : ring.nodes) circle.m += node.r;
  }
  return circles;
}

/// Leaves in order, rotated so that the circle has its balls.
void rotate(Placement& circle, int balls) {
  std::int64_t inner = 0;
  for (const Node& block : circle.blocks) inner += block.h;
  std::int64_t best = -1;
  int best_shift = 0;
  for (int shift = 0; shift < circle.leaves() && best != 0; ++shift) {
    circle.rotate(shift);
    std::int64_t sum = inner;
    for (int i = 0; i < circle.leaves(); ++i) sum += circle.height(i);
    const std::int64_t off = std::abs(sum - std::int64_t{balls} * circle.m);
    if (best < 0 || off < best) best = off, best_shift = shift;
  }
  circle.rotate(best_shift);
}

bool start(std::vector<Placement>& circles, const std::vector<Ring>& rings, const Wanted& wanted, Random& random) {
  for (std::size_t i = 0; i < circles.size(); ++i) {
    if (std::any_of(wanted.heights().begin(), wanted.heights().end(), [&](int h) { return h >= circles[i].m; }))
      return false;
    if (!circles[i].shuffle(random)) return false;
    rotate(circles[i], rings[i].balls);
  }
  return true;
}

bool anneal(std::vector<Placement>& circles, Wanted& wanted, std::int64_t moves, Random& random) {
  int total = 0;
  for (const Placement& circle : circles) total += circle.m;
  for (std::int64_t i = 0; i < moves && wanted.cost() > 0; ++i) {
    const double temperature = 0.65 - 0.25 * static_cast<double>(i) / static_cast<double>(moves);
    int x = random.below(total);
    std::size_t c = 0;
    while (x >= circles[c].m) x -= circles[c++].m;
    if (random.below(64) == 0) {
      wanted.exchange_blocks(circles, c, temperature, random);
    } else {
      wanted.exchange_leaves(circles[c], temperature, random);
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

std::optional<std::vector<Group>> arrange_on_rings(const std::vector<Ring>& rings, const std::vector<int>& leaves,
                                                   std::int64_t moves, Random& random) {
  std::vector<Placement> circles = circles_of(rings);
  std::vector<int> required = leaves;
  for (const Placement& circle : circles) required.resize(std::max(required.size(), at(circle.m)), 0);
  Wanted wanted(std::move(required));
  if (!start(circles, rings, wanted, random)) return std::nullopt;
  wanted.recount(circles);
  if (!anneal(circles, wanted, moves, random)) return std::nullopt;
  std::vector<Group> groups;
  for (const Placement& circle : circles) {
    Group& group = groups.emplace_back(circle.inner_group());
    for (int i = 0; i < circle.leaves(); ++i)
      group.H[at(circle.throws[at(i)])] = static_cast<std::int16_t>(circle.height(i));
  }
  return groups;
}

}  // namespace chasqui::forge
