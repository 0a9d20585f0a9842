// SPDX-License-Identifier: MIT
// A d-ary search tree over sorted splitters, its nodes spread over the processors. Every splitter is kept
// once: in the highest node whose children it separates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "chasqui/bsp/node_mapping.hpp"
#include "chasqui/bsp/world.hpp"

namespace chasqui::bsp {
/// Levels of a search tree for so many segments, and children of a node: d, or a few more where they save a level.
struct TreeShape {
  /// REQUIRES d >= 2
  TreeShape(std::int64_t segments, int d);

  int levels = 0;
  std::int64_t degree = 2;
  std::int64_t leaves = 1;  ///< degree to the power of levels
};

/// A complete search tree over sorted keys, dealt out to the processors.
template <Sendable Splitter>
class SearchTree {
 public:
  /// Collective: `mine` is this processor's part of the sorted splitters, parts in rank order. Nodes have about d children and lie
  /// where NodeMapping(p, children, z, seed) says.
  SearchTree(World& w, std::span<const Splitter> mine, int d, int z, std::uint64_t seed)
      : shape_(w.allreduce(static_cast<std::int64_t>(mine.size()), std::plus<>{}) + 1, d),
        mapping_(z == 0 ? NodeMapping::random(w.size(), seed)
                        : NodeMapping::z_mapping(w.size(), shape_.degree, z, seed)) {
    const auto count = static_cast<std::int64_t>(mine.size());
    const std::int64_t first = w.exclusive_scan(count, std::plus<>{}, std::int64_t{0});
    Queue<Placed> placed(w);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t b = first + i + 1;  // the boundary before leaf b
      std::int64_t below = shape_.leaves / shape_.degree;
      int level = 0;
      for (; b % below != 0; below /= shape_.degree) ++level;
      const std::int64_t node = b / (below * shape_.degree);
      placed.send(static_cast<int>(mapping_.owner(level, node)),
                  Placed{level, 0, node, mine[static_cast<std::size_t>(i)]});
    }
    w.sync();
    for (const auto& message : placed) {  // senders come in rank order, so a node's splitters are sorted
      nodes_[key(message.value().level, message.value().node)].push_back(message.value().splitter);
    }
  }

  /// The depth: how many nodes a query passes.
  int levels() const { return shape_.levels; }
  std::int64_t degree() const { return shape_.degree; }    ///< children of a node
  const NodeMapping& mapping() const { return mapping_; }  ///< where its nodes lie

  /// The splitters of a node that this processor keeps; fewer than degree - 1 at the right border of the tree.
  std::span<const Splitter> splitters(int level, std::int64_t node) const {
    const auto found = nodes_.find(key(level, node));
    if (found == nodes_.end()) return {};
    return found->second;
  }

 private:
  struct Placed {
    std::int32_t level, pad;
    std::int64_t node;
    Splitter splitter;
  };
  static std::uint64_t key(int level, std::int64_t node) {
    return static_cast<std::uint64_t>(level) << 56 | static_cast<std::uint64_t>(node);
  }

  TreeShape shape_;
  NodeMapping mapping_;
  std::unordered_map<std::uint64_t, std::vector<Splitter>> nodes_;
};

}  // namespace chasqui::bsp
