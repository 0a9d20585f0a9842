// SPDX-License-Identifier: MIT
#include "forge/tree.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace chasqui::forge {
namespace {

/// Every node with its height and number of children, leaves included.
std::vector<Node> optimal_nodes(const Counting& c, int j, bool full_root, Random& random) {
  const int D = static_cast<int>(c.n) + 1 + j;
  const int L = static_cast<int>(c.L);
  std::vector<Node> nodes;
  for (int h = D; h > j; --h) {
    const std::int64_t many = c.f(D - h) - c.f(D - h - 1);
    for (std::int64_t i = 0; i < many; ++i) nodes.push_back({h, std::max(0, h - L - j), h - L, 0});
  }
  // The nodes of height j are the last children of a random choice of nodes.
  std::vector<std::size_t> parents;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].h - L >= j) parents.push_back(i);
  }
  const auto last = static_cast<std::size_t>(c.M - c.f(c.n));
  for (std::size_t i = 0; i < last && i < parents.size(); ++i) {
    if (i > 0 || !full_root) {  // the root is the first
      std::swap(parents[i], parents[i + static_cast<std::size_t>(random.below(static_cast<int>(parents.size() - i)))]);
    }
    ++nodes[parents[i]].r;
  }
  for (std::size_t i = 0; i < last; ++i) nodes.push_back({j, 0, j - L, 0});
  return nodes;
}

/// Gives a leaf another height and keeps the order by height, largest first.
void change_height(std::vector<Node>& nodes, std::vector<Node>::iterator leaf, int height, int L) {
  *leaf = {height, 0, height - L, 0};
  while (leaf != nodes.begin() && (leaf - 1)->h < height) std::iter_swap(leaf, leaf - 1), --leaf;
  while (leaf + 1 != nodes.end() && (leaf + 1)->h > height) std::iter_swap(leaf, leaf + 1), ++leaf;
}

/// One step of the walk towards lateness 0: a leaf of height `high` becomes one of height `low`. False if it may not.
bool make_later(std::vector<Node>& nodes, int L, bool full_root, std::int64_t& lateness, Random& random) {
  // Nodes that can have children come first.
  std::size_t able = 0;
  while (able < nodes.size() && nodes[able].h >= L) ++able;
  if (able == 0) return false;
  Node& giver = nodes[static_cast<std::size_t>(random.below(static_cast<int>(able)))];
  Node& taker = nodes[static_cast<std::size_t>(random.below(static_cast<int>(able)))];
  if (full_root && (&giver == nodes.data() || &taker == nodes.data())) return false;
  if (giver.r == 0 || giver.hole > 0 || taker.hole > 0) return false;
  const bool from_front = random.below(2) == 0;
  if (&giver == &taker && !from_front) return false;
  const int high = from_front ? giver.first : giver.first - giver.r + 1;
  const int low = taker.first - taker.r;
  if (low < 0) return false;
  const bool closer = std::abs(lateness - (high - low)) <= std::abs(lateness);
  if (!closer && random.below(8) != 0) return false;  // a step back, against dead ends
  auto leaf = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.h == high && node.r == 0; });
  if (leaf == nodes.end() || &*leaf == &taker) return false;
  giver.first -= from_front ? 1 : 0;
  --giver.r;
  ++taker.r;
  if (giver.r == 0) giver.first = giver.h - L;
  change_height(nodes, leaf, low, L);
  lateness -= high - low;
  return true;
}

/// A random node leaves out one height: the children after it come one step later. False if that may not be.
bool make_hole(std::vector<Node>& nodes, int L, std::int64_t& lateness, Random& random) {
  Node& node = nodes[static_cast<std::size_t>(random.below(static_cast<int>(nodes.size())))];
  if (node.r < 2) return false;
  const int hole = 1 + random.below(node.r - 1);
  const int high = node.first - hole;
  const int low = node.first - node.r;
  if (low < 0 || high - low > std::abs(lateness)) return false;
  auto leaf = std::find_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.h == high && n.r == 0; });
  if (leaf == nodes.end()) return false;
  node.hole = hole;
  change_height(nodes, leaf, low, L);
  lateness -= high - low;
  return true;
}

}  // namespace

std::optional<Tree> random_tree(const Counting& c, int j, std::int64_t lateness, Random& random, bool full_root) {
  std::vector<Node> nodes = optimal_nodes(c, j, full_root, random);
  if (j == 1 && lateness > c.M / 2 &&
      random.below(4) == 0) {  // start from the other end: everything below the root one step later
    nodes = optimal_nodes(c, 0, full_root, random);
    ++nodes[0].h;
    lateness -= c.M - 1;
  }
  const std::int64_t tries = 200 * (std::abs(lateness) + 10) + 20 * c.M;
  bool may_have_hole = random.below(2) == 0 && !full_root;
  for (std::int64_t i = 0; lateness != 0; ++i) {
    if (i > tries) return std::nullopt;
    if (may_have_hole && random.below(8) == 0 && make_hole(nodes, static_cast<int>(c.L), lateness, random)) {
      may_have_hole = false;
    }
    make_later(nodes, static_cast<int>(c.L), full_root, lateness, random);
  }
  Tree tree;
  tree.D = static_cast<int>(c.n) + 1 + j;
  tree.leaves.assign(static_cast<std::size_t>(tree.D) + 1, 0);
  for (const Node& node : nodes) {
    if (node.r > 0) {
      tree.internal.push_back(node);
    } else {
      ++tree.leaves[static_cast<std::size_t>(node.h)];
    }
  }
  return tree;
}

}  // namespace chasqui::forge
