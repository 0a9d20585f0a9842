// SPDX-License-Identifier: MIT
#include "show/tree_layout.hpp"

#include <algorithm>

namespace chasqui::show {
namespace {

/// Left and right edge of a subtree on each of its levels, relative to its root.
struct Outline {
  std::vector<double> left;
  std::vector<double> right;
};

/// How far `next` must move to the right to stand beside `placed`, at distance 1 on every common level.
double clearance(const Outline& placed, const Outline& next) {
  double shift = 0;
  for (std::size_t level = 0; level < std::min(placed.right.size(), next.left.size()); ++level) {
    shift = std::max(shift, placed.right[level] - next.left[level] + 1);
  }
  return shift;
}

void join(Outline& placed, const Outline& next, double shift) {
  for (std::size_t level = 0; level < next.left.size(); ++level) {
    if (level < placed.left.size()) {
      placed.right[level] = next.right[level] + shift;
    } else {
      placed.left.push_back(next.left[level] + shift);
      placed.right.push_back(next.right[level] + shift);
    }
  }
}

}  // namespace

std::vector<double> tree_layout(const Tree& tree) {
  const std::size_t count = tree.nodes.size();
  std::vector<double> offset(count, 0);  // relative to the parent
  std::vector<Outline> outline(count);
  for (std::size_t i = count; i-- > 0;) {  // children come after their parents
    const TreeNode& node = tree.nodes[i];
    Outline forest;
    std::vector<double> shifts;
    for (const int child : node.children) {
      Outline& next = outline[static_cast<std::size_t>(child)];
      const double shift = shifts.empty() ? 0 : clearance(forest, next);
      shifts.push_back(shift);
      join(forest, next, shift);
      next = {};
    }
    const double middle = shifts.empty() ? 0 : (shifts.front() + shifts.back()) / 2;
    Outline& own = outline[i];
    own.left.push_back(0);
    own.right.push_back(0);
    for (std::size_t level = 0; level < forest.left.size(); ++level) {
      own.left.push_back(forest.left[level] - middle);
      own.right.push_back(forest.right[level] - middle);
    }
    for (std::size_t c = 0; c < shifts.size(); ++c) {
      offset[static_cast<std::size_t>(node.children[c])] = shifts[c] - middle;
    }
  }
  double least = 0;
  for (std::size_t i = 1; i < count; ++i) {
    offset[i] += offset[static_cast<std::size_t>(tree.nodes[i].parent)];
    least = std::min(least, offset[i]);
  }
  for (double& position : offset) position -= least;
  return offset;
}

}  // namespace chasqui::show
