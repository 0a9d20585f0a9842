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
    if (count() > kNodesARun * static_cast<std::int64_t>(runs_.size())) return;
    run_of_.reserve(static_cast<std::size_t>(count()) + 1);
    for (std::size_t i = 0; i + 1 < runs_.size(); ++i)
      run_of_.insert(run_of_.end(), static_cast<std::size_t>(runs_[i + 1].node - runs_[i].node),
                     static_cast<std::int32_t>(i));
    run_of_.push_back(static_cast<std::int32_t>(runs_.size() - 1));
  }

  std::int64_t count() const { return runs_.back().node; }
  std::int64_t ranks() const { return runs_.back().rank; }
  std::int64_t largest() const { return largest_; }

  // Time: O(log), of nodes that differ from their neighbours; O(1) where most do and a node is given.
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
    if (!run_of_.empty()) return runs_[static_cast<std::size_t>(run_of_[static_cast<std::size_t>(node)])];
    const auto next = std::upper_bound(runs_.begin(), runs_.end(), node,
                                       [](std::int64_t at, const Run& run) { return at < run.node; });
    return *(next - 1);
  }

  static constexpr std::int64_t kNodesARun = 4;

  std::vector<Run> runs_;
  std::vector<std::int32_t> run_of_;  ///< by node; empty where runs are long
  std::int64_t largest_;
};

}  // namespace chasqui::plan
