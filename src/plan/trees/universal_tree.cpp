// SPDX-License-Identifier: MIT
#include "chasqui/plan/universal_tree.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan {
namespace {

__extension__ using Wide = __int128;

std::int64_t saturate(Wide value) {
  return value >= static_cast<Wide>(kSaturated) ? kSaturated : static_cast<std::int64_t>(value);
}

// A node at depth a whose sibling indices add up to b has label aλ + bg; there are C(a+b-1, b) of them (a >= 1).
// Summing over b first leaves one term per depth, summing over a first one per index sum: take the shorter sum
// (trees.md, Theorem 4).

std::int64_t reach_by_depth(const TreeShape& shape, std::int64_t T) {
  std::int64_t total = 0;
  for (std::int64_t a = 0, left = T; left >= 0; ++a, left -= shape.lambda.ticks) {
    total = saturating_add(total, saturating_binomial(a + left / shape.gap.ticks, a));
    if (total == kSaturated) break;
  }
  return total;
}

std::int64_t reach_by_index_sum(const TreeShape& shape, std::int64_t T) {
  std::int64_t total = 1;
  for (std::int64_t b = 0, left = T; left >= shape.lambda.ticks; ++b, left -= shape.gap.ticks) {
    total = saturating_add(total, saturating_binomial(left / shape.lambda.ticks + b, b + 1));
    if (total == kSaturated) break;
  }
  return total;
}

// The same sums with weight T + 1 - label on each node.

std::int64_t cumulative_by_depth(const TreeShape& shape, std::int64_t T) {
  Wide total = 0;
  const std::int64_t g = shape.gap.ticks;
  for (std::int64_t a = 0, left = T; left >= 0; ++a, left -= shape.lambda.ticks) {
    const std::int64_t whole = left / g;  // C(a+b, a) nodes stay in reach for g ticks each, b = 0 .. whole-1
    const Wide full = static_cast<Wide>(saturating_binomial(a + whole, a + 1)) * g;
    const Wide rest = static_cast<Wide>(saturating_binomial(a + whole, a)) * (left - whole * g + 1);
    total += full + rest;
    if (total >= static_cast<Wide>(kSaturated)) return kSaturated;
  }
  return saturate(total);
}

std::int64_t cumulative_by_index_sum(const TreeShape& shape, std::int64_t T) {
  Wide total = static_cast<Wide>(T) + 1;
  const std::int64_t lambda = shape.lambda.ticks;
  for (std::int64_t b = 0, left = T; left >= lambda; ++b, left -= shape.gap.ticks) {
    const std::int64_t a = left / lambda;  // depths 1..a; Σ i·C(i+b-1, b) = (b+1)·C(a+b, b+2) + C(a+b, b+1)
    const std::int64_t nodes = saturating_binomial(a + b, b + 1);
    const std::int64_t deeper = saturating_binomial(a + b, b + 2);
    if (nodes == kSaturated || deeper == kSaturated) return kSaturated;
    const Wide depths = static_cast<Wide>(b + 1) * deeper + nodes;
    total += static_cast<Wide>(left + 1) * nodes - static_cast<Wide>(lambda) * depths;
    if (total >= static_cast<Wide>(kSaturated)) return kSaturated;
  }
  return saturate(total);
}

}  // namespace

std::int64_t reach(const TreeShape& shape, Time T) {
  if (T < Time{0}) return 0;
  return shape.lambda >= shape.gap ? reach_by_depth(shape, T.ticks) : reach_by_index_sum(shape, T.ticks);
}

std::int64_t cumulative_reach(const TreeShape& shape, Time T) {
  if (T < Time{0}) return 0;
  return shape.lambda >= shape.gap ? cumulative_by_depth(shape, T.ticks) : cumulative_by_index_sum(shape, T.ticks);
}

Time broadcast_time(const TreeShape& shape, std::int64_t P) {
  CHASQUI_CHECK(P >= 1, "P={}", P);
  CHASQUI_CHECK(shape.lambda >= Time{1} && shape.gap >= Time{1}, "lambda={} gap={}", shape.lambda.ticks,
                shape.gap.ticks);
  // P(T + max(λ, g)) >= 2 P(T), so at most 63 strides reach any P (trees.md, Theorem 5); then bisect inside the last.
  const Time stride = std::max(shape.lambda, shape.gap);
  Time low{-1};  // P(low) < P
  Time high{0};
  while (reach(shape, high) < P) {
    low = high;
    high = Time{checked_add(high.ticks, stride.ticks, "the broadcast time")};
  }
  while (high - low > Time{1}) {
    const Time middle{low.ticks + (high.ticks - low.ticks) / 2};
    (reach(shape, middle) < P ? low : high) = middle;
  }
  return high;
}

UniversalTree::UniversalTree(const TreeShape& shape, std::int64_t P)
    : shape_(shape), P_(P), finish_(broadcast_time(shape, P)), kept_last_(P - reach(shape, finish_ - Time{1})) {}

/// Nodes of the largest label in an unpruned subtree whose root has `remaining` ticks left, itself included.
std::int64_t UniversalTree::last_within(Time remaining) const {
  return reach(shape_, remaining) - reach(shape_, remaining - Time{1});
}

/// The same without the root of the subtree.
std::int64_t UniversalTree::last_below(Time remaining) const {
  return remaining < Time{1} ? 0 : last_within(remaining);
}

/// Nodes that are kept of a subtree: all with a label below the last, and of the last label the first ones.
std::int64_t UniversalTree::kept_size(Time remaining, std::int64_t last_before) const {
  return reach(shape_, remaining - Time{1}) +
         std::clamp<std::int64_t>(kept_last_ - last_before, 0, last_within(remaining));
}

std::int64_t UniversalTree::size_before_child(const Node& parent, std::int64_t i) const {
  // In the full tree the first i children hold f(R) - f(R - i·g) nodes: dropping them leaves the tree of R - i·g
  // (trees.md, Theorem 6).
  const Time now = remaining(parent);
  const Time later = now - i * shape_.gap;
  const auto early_below = [&](Time left) { return left < Time{1} ? 0 : reach(shape_, left - Time{1}) - 1; };
  const std::int64_t last = last_below(now) - last_below(later);
  return early_below(now) - early_below(later) + std::clamp<std::int64_t>(kept_last_ - parent.last_before, 0, last);
}

/// Fills in what follows from the label and last_before.
UniversalTree::Node UniversalTree::complete(Node node) const {
  const Time left = remaining(node);
  node.size = kept_size(left, node.last_before);
  const Time for_children = left - shape_.lambda;
  if (for_children >= Time{0}) {
    node.children = for_children.ticks / shape_.gap.ticks + 1;
    // A child of the last label is the last node of the subtree in preorder: kept only if all are.
    const bool last_child_is_last_label = for_children.ticks % shape_.gap.ticks == 0;
    if (last_child_is_last_label && node.size < reach(shape_, left)) --node.children;
  }
  return node;
}

UniversalTree::Node UniversalTree::root() const { return complete(Node{}); }

UniversalTree::Node UniversalTree::child(const Node& parent, std::int64_t i) const {
  const Time now = remaining(parent);
  Node node;
  node.index = parent.index + 1 + size_before_child(parent, i);
  node.parent = parent.index;
  node.sibling = i;
  node.label = parent.label + shape_.lambda + i * shape_.gap;
  node.last_before = parent.last_before + last_below(now) - last_below(now - i * shape_.gap);
  return complete(node);
}

/// The first child of the first child of … : preorder numbers them one after another.
UniversalTree::Node UniversalTree::first_descendant(const Node& node, std::int64_t generations) const {
  if (generations == 0) return node;
  Node found;
  found.index = node.index + generations;
  found.parent = found.index - 1;
  found.label = node.label + generations * shape_.lambda;
  found.last_before = node.last_before;
  return complete(found);
}

UniversalTree::Node UniversalTree::node(std::int64_t index) const {
  CHASQUI_CHECK(index >= 0 && index < P_, "index={} P={}", index, P_);
  Node at = root();
  while (at.index != index) {
    // Down the chain of first children as far as their subtrees hold the index: one jump, however deep.
    std::int64_t low = 0;
    std::int64_t high = std::min(index - at.index, remaining(at).ticks / shape_.lambda.ticks) + 1;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      const Time left = remaining(at) - middle * shape_.lambda;
      (at.index + middle + kept_size(left, at.last_before) > index ? low : high) = middle;
    }
    at = first_descendant(at, low);
    if (at.index == index) break;
    // Then to the child whose subtree holds it: the last one that begins at or before it.
    const std::int64_t offset = index - at.index - 1;
    low = 0;
    high = at.children;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (size_before_child(at, middle) <= offset ? low : high) = middle;
    }
    at = child(at, low);
  }
  return at;
}

}  // namespace chasqui::plan
