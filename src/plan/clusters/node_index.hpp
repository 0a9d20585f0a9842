// SPDX-License-Identifier: MIT
// Which rank is where, of nodes that may be a long list of sizes: Nodes looks through all of it, this looks it up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "chasqui/model/cluster.hpp"

namespace chasqui::plan {

class NodeIndex {
 public:
  explicit NodeIndex(const Nodes& nodes) : largest_(nodes.largest()) {
    runs_.reserve(nodes.runs.size() + 1);
    Run next{0, 0, 0};
    for (const Nodes::Run& run : nodes.runs) {
      runs_.push_back({next.node, next.rank, run.size});
      next.node += run.count;
      next.rank += run.count * run.size;
    }
    runs_.push_back(next);
  }

  std::int64_t count() const { return runs_.back().node; }
  std::int64_t ranks() const { return runs_.back().rank; }
  std::int64_t largest() const { return largest_; }

  // Time: O(log), of nodes that differ from their neighbours.
  std::int64_t size(std::int64_t node) const { return of_node(node).size; }  ///< REQUIRES 0 <= node < count()
  std::int64_t first_rank(std::int64_t node) const {                         ///< REQUIRES 0 <= node <= count()
    const Run& run = of_node(node);
    return run.rank + (node - run.node) * run.size;
  }
  std::int64_t node_of(Rank rank) const {  ///< REQUIRES 0 <= rank < ranks()
    const auto next = std::upper_bound(runs_.begin(), runs_.end(), std::int64_t{rank.index},
                                       [](std::int64_t at, const Run& run) { return at < run.rank; });
    const Run& run = *(next - 1);
    return run.node + (rank.index - run.rank) / run.size;
  }

 private:
  /// Neighbours of one size, from this node and rank on; the last one has none.
  struct Run {
    std::int64_t node, rank, size;
  };
  const Run& of_node(std::int64_t node) const {
    const auto next = std::upper_bound(runs_.begin(), runs_.end(), node,
                                       [](std::int64_t at, const Run& run) { return at < run.node; });
    return *(next - 1);
  }

  std::vector<Run> runs_;
  std::int64_t largest_;
};

}  // namespace chasqui::plan
