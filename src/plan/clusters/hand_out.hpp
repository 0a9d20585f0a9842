// SPDX-License-Identifier: MIT
// What the ranks of nodes have is handed out on their boards.
#pragma once

#include <algorithm>
#include <vector>

#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {

/// Something that a rank has from some time on.
struct Held {
  Time since;
  Rank at;
  std::int64_t item = 0;
  Rank to{-1};  ///< all-to-all: for whom; nobody: for the whole node

  friend auto operator<=>(const Held&, const Held&) = default;
};

/// Everything held is published when there is time for it, then read by the others of the node, what came first first.
inline void hand_out(Timetable& table, std::vector<Held> held) {
  const NodeIndex& nodes = table.where();
  std::sort(held.begin(), held.end());
  for (Held& h : held) {
    if (nodes.size(table.node_of(h.at)) > 1 && h.to != h.at) h.since = table.publish(h.at, item_part(h.item), h.since);
  }
  std::sort(held.begin(), held.end());
  for (const Held& h : held) {
    const std::int64_t node = table.node_of(h.at), size = nodes.size(node);
    if (h.to.index >= 0) {
      if (h.to != h.at) table.read(h.to, h.at, item_part(h.item), h.since);
      continue;
    }
    const std::int64_t own = h.at.index - nodes.first_rank(node);
    for (std::int64_t i = 1; i < size; ++i) table.read(rank_at(nodes, node, own + i), h.at, item_part(h.item), h.since);
  }
}

}  // namespace chasqui::plan
