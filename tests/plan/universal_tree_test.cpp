// SPDX-License-Identifier: MIT
#include "chasqui/plan/universal_tree.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "chasqui/base/arithmetic.hpp"

namespace chasqui::plan {
namespace {

/// The plain construction: always take the smallest label on offer.
std::vector<std::int64_t> smallest_labels(const TreeShape& shape, std::int64_t P) {
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> heap;
  heap.push(0);
  std::vector<std::int64_t> labels;
  while (static_cast<std::int64_t>(labels.size()) < P) {
    const std::int64_t label = heap.top();
    heap.pop();
    labels.push_back(label);
    if (labels.size() > 1) heap.push(label + shape.gap.ticks);  // the next sibling
    heap.push(label + shape.lambda.ticks);                      // the first child
  }
  return labels;
}

/// A node by walking the tree, children in order: the definition, for small trees.
void walk(const UniversalTree& tree, const UniversalTree::Node& node, std::vector<UniversalTree::Node>& nodes) {
  ASSERT_EQ(node.index, static_cast<std::int64_t>(nodes.size()));
  nodes.push_back(node);
  for (std::int64_t i = 0; i < node.children; ++i) {
    const auto child = tree.child(node, i);
    ASSERT_EQ(child.parent, node.index);
    ASSERT_EQ(child.label, node.label + tree.shape().lambda + i * tree.shape().gap);
    walk(tree, child, nodes);
  }
  ASSERT_EQ(static_cast<std::int64_t>(nodes.size()), node.index + node.size);
}

void expect_consistent(const UniversalTree& tree) {
  std::vector<UniversalTree::Node> nodes;
  walk(tree, tree.root(), nodes);
  ASSERT_EQ(static_cast<std::int64_t>(nodes.size()), tree.size());
  std::vector<std::int64_t> labels;
  for (const auto& node : nodes) {
    labels.push_back(node.label.ticks);
    const auto found = tree.node(node.index);
    EXPECT_EQ(found.parent, node.parent);
    EXPECT_EQ(found.label, node.label);
    EXPECT_EQ(found.size, node.size);
    EXPECT_EQ(found.children, node.children);
    EXPECT_EQ(found.sibling, node.sibling);
  }
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, smallest_labels(tree.shape(), tree.size()));  // so the sum of labels is least, too
}

TEST(UniversalTree, CountsEqualAPlainHeapForEverySmallShape) {
  for (std::int64_t lambda = 1; lambda <= 20; ++lambda) {
    for (std::int64_t gap = 1; gap <= 20; ++gap) {
      const TreeShape shape{Time{lambda}, Time{gap}};
      const auto labels = smallest_labels(shape, 500);
      std::int64_t cumulative = 0;
      for (std::int64_t T = 0; T < labels.back(); ++T) {
        const auto count = std::upper_bound(labels.begin(), labels.end(), T) - labels.begin();
        ASSERT_EQ(reach(shape, Time{T}), count) << "lambda=" << lambda << " gap=" << gap << " T=" << T;
        cumulative += count;
        ASSERT_EQ(cumulative_reach(shape, Time{T}), cumulative) << "lambda=" << lambda << " gap=" << gap << " T=" << T;
      }
      for (std::int64_t P = 1; P <= 500; ++P) {
        ASSERT_EQ(broadcast_time(shape, P).ticks, labels[static_cast<std::size_t>(P) - 1])
            << "lambda=" << lambda << " gap=" << gap << " P=" << P;
      }
    }
  }
}

TEST(UniversalTree, PlacesEqualTheWalkForEverySmallTree) {
  for (std::int64_t lambda = 1; lambda <= 9; ++lambda) {
    for (std::int64_t gap = 1; gap <= 9; ++gap) {
      for (std::int64_t P = 1; P <= 60; ++P) expect_consistent({{Time{lambda}, Time{gap}}, P});
    }
  }
}

TEST(UniversalTree, RandomShapes) {
  EXPECT_TRUE(rc::check("heap, counts and places agree", [] {
    const TreeShape shape{Time{*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000)},
                          Time{*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000)}};
    const auto P = *rc::gen::inRange<std::int64_t>(1, 400);
    const auto labels = smallest_labels(shape, P);
    RC_ASSERT(broadcast_time(shape, P).ticks == labels.back());
    for (const std::int64_t label : labels) {
      const auto count = std::upper_bound(labels.begin(), labels.end(), label) - labels.begin();
      if (label < labels.back()) RC_ASSERT(reach(shape, Time{label}) == count);
    }
    expect_consistent({shape, P});
  }));
}

TEST(UniversalTree, HugeTreesAnswerForOneNode) {
  // A flat tree, a chain of 10^9 generations, and the machine of the benchmark.
  for (const TreeShape shape :
       {TreeShape{Time{1'000'000'000'000}, Time{1}}, TreeShape{Time{1}, Time{1'000'000'000'000}},
        TreeShape{Time{5'004'000}, Time{4'000}}, TreeShape{Time{1}, Time{1}}}) {
    const UniversalTree tree(shape, 1'000'000'000);
    for (const std::int64_t index : {0L, 1L, 77'777'777L, 500'000'000L, 999'999'998L, 999'999'999L}) {
      const auto node = tree.node(index);
      ASSERT_EQ(node.index, index);
      if (index > 0) {
        const auto parent = tree.parent(node);
        const auto again = tree.child(parent, node.sibling);
        EXPECT_EQ(again.index, index);
        EXPECT_EQ(again.label, node.label);
        EXPECT_EQ(again.size, node.size);
      }
      EXPECT_LE(node.label, tree.finish());
    }
  }
}

TEST(UniversalTree, CountsSaturateInsteadOfOverflowing) {
  const TreeShape shape{Time{1}, Time{1}};
  EXPECT_EQ(reach(shape, Time{62}), std::int64_t{1} << 62);
  EXPECT_EQ(reach(shape, Time{63}), kSaturated);
  EXPECT_EQ(cumulative_reach(shape, Time{63}), kSaturated);
  EXPECT_EQ(reach(shape, Time{-1}), 0);
}

}  // namespace
}  // namespace chasqui::plan
