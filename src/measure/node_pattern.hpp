// SPDX-License-Identifier: MIT
// Who sends to whom while a node's gaps are measured: the first ranks of every node at the same time, each to a rank of every further node in
// turn. All nodes at once, as in a collective: what they have in common, as a switch with less bandwidth than its links together, counts too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chasqui::measure {

struct NodeMessage {
  int peer;      ///< rank
  bool arrives;  ///< it is received, not sent
};

/// The messages of the rank at `place` of node `node`, where `lanes` ranks a node, or all, send `messages` each. Two ranks exchange theirs in one and
/// the same order. REQUIRES two nodes or more.
inline std::vector<NodeMessage> node_pattern(const std::vector<std::vector<int>>& nodes, std::size_t node,
                                             std::size_t place, std::size_t lanes, std::size_t messages) {
  std::vector<NodeMessage> all;
  for (std::size_t i = 0; i < messages; ++i) {
    const std::size_t shift = 1 + i % (nodes.size() - 1);
    const auto& to = nodes[(node + shift) % nodes.size()];
    const auto& from = nodes[(node + nodes.size() - shift) % nodes.size()];
    const std::size_t size = nodes[node].size(), senders = std::min(lanes, from.size());
    for (std::size_t lane = place; lane < senders; lane += size) all.push_back({from[lane], true});
    if (place < lanes) all.push_back({to[place % to.size()], false});
  }
  return all;
}

}  // namespace chasqui::measure
