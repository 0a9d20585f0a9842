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
/// A complete d-ary search tree over sorted keys, dealt out to the processors.
template <Sendable Splitter>
class SearchTree {
 public:
  /// Collective: `mine` is this processor's part of the sorted splitters, parts in rank order.
  SearchTree(World& w, std::span<const Splitter> mine, int d, NodeMapping mapping) : mapping_(mapping) {
    const auto count = static_cast<std::int64_t>(mine.size());
    const std::int64_t first = w.exclusive_scan(count, std::plus<>{}, std::int64_t{0});
    const std::int64_t splitters = w.allreduce(count, std::plus<>{});
    std::int64_t leaves = 1;
    while (leaves < splitters + 1) leaves *= d, ++levels_;
    Queue<Placed> placed(w);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t b = first + i + 1;  // the boundary before leaf b
      std::int64_t below = leaves / d;
      int level = 0;
      for (; b % below != 0; below /= d) ++level;
      const std::int64_t node = b / (below * d);
      placed.send(static_cast<int>(mapping_.owner(level, node)),
                  Placed{level, 0, node, mine[static_cast<std::size_t>(i)]});
    }
    w.sync();
    for (const auto& message : placed) {  // senders come in rank order, so a node's splitters are sorted
      nodes_[key(message.value().level, message.value().node)].push_back(message.value().splitter);
    }
  }

  /// The depth: how many nodes a query passes.
  int levels() const { return levels_; }
  const NodeMapping& mapping() const { return mapping_; }  ///< where its nodes lie

  /// The splitters of a node that this processor keeps; fewer than d-1 at the right border of the tree.
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

  NodeMapping mapping_;
  int levels_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Splitter>> nodes_;
};

}  // namespace chasqui::bsp
