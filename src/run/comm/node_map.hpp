// SPDX-License-Identifier: MIT
// Ranks to nodes and back. Blocks that travel between nodes lie node after node; programs want them rank after rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "chasqui/model/cluster.hpp"
#include "run/call/aligned_buffer.hpp"

namespace chasqui::run {

class NodeMap {
 public:
  /// node_of: per rank, nodes numbered from 0 without a gap.
  explicit NodeMap(std::vector<int> node_of) : node_of_(std::move(node_of)), place_(node_of_.size()) {
    for (std::size_t r = 0; r < node_of_.size(); ++r) {
      const auto node = static_cast<std::size_t>(node_of_[r]);
      if (node >= members_.size()) members_.resize(node + 1);
      place_[r] = static_cast<int>(members_[node].size());
      members_[node].push_back(static_cast<int>(r));
    }
  }

  int count() const { return static_cast<int>(members_.size()); }  ///< nodes
  int node_of(std::int64_t rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  int place_of(int rank) const { return place_[static_cast<std::size_t>(rank)]; }  ///< among the ranks of its node
  const std::vector<int>& members(int node) const { return members_[static_cast<std::size_t>(node)]; }  ///< ascending
  bool ordered() const { return std::is_sorted(node_of_.begin(), node_of_.end()); }  ///< nodes are intervals of ranks
  /// Ranks of the largest node, and of the smallest.
  int largest() const {
    return extreme([](std::size_t a, std::size_t b) { return std::max(a, b); });
  }
  int smallest() const {
    return extreme([](std::size_t a, std::size_t b) { return std::min(a, b); });
  }
  /// As plans see them: their ranks are counted node after node.
  Nodes sizes() const {
    Nodes nodes;
    for (const auto& members : members_) nodes.add(static_cast<std::int64_t>(members.size()));
    return nodes;
  }
  /// The ranks in that order.
  std::vector<int> in_order() const {
    std::vector<int> ranks;
    for (const auto& members : members_) ranks.insert(ranks.end(), members.begin(), members.end());
    return ranks;
  }

  /// Where the blocks of each node begin when they lie node after node.
  std::vector<std::size_t> offsets(std::size_t bytes) const {
    std::vector<std::size_t> begin = {0};
    for (const auto& members : members_) begin.push_back(begin.back() + members.size() * bytes);
    return begin;
  }
  /// Blocks that lie rank after rank, copied to lie node after node.
  void by_nodes(const std::byte* in, std::byte* out, std::size_t bytes) const {
    each_block([&](std::size_t rank, std::size_t at) { copy_bytes(out + at * bytes, in + rank * bytes, bytes); });
  }
  /// The inverse.
  void by_ranks(const std::byte* in, std::byte* out, std::size_t bytes) const {
    each_block([&](std::size_t rank, std::size_t at) { copy_bytes(out + rank * bytes, in + at * bytes, bytes); });
  }

 private:
  template <typename F>
  int extreme(F better) const {
    std::size_t size = members_.front().size();
    for (const auto& members : members_) size = better(size, members.size());
    return static_cast<int>(size);
  }
  template <typename F>
  void each_block(F copy) const {
    std::size_t at = 0;
    for (const auto& members : members_) {
      for (const int member : members) copy(static_cast<std::size_t>(member), at++);
    }
  }

  std::vector<int> node_of_;
  std::vector<int> place_;
  std::vector<std::vector<int>> members_;
};

}  // namespace chasqui::run
