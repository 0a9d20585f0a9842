// SPDX-License-Identifier: MIT
// Ranks of nodes of any size in columns of equal length, some places of which may be empty: what equal nodes do, columns can do (clusters.md, Theorem 44).
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/base/arithmetic.hpp"
#include "plan/clusters/node_index.hpp"

namespace chasqui::plan {

class Columns {
 public:
  struct Place {
    std::int64_t column = 0, place = 0;
  };

  /// One after another, whatever their nodes. REQUIRES length >= nodes.largest(): then ranks of one node have different places.
  static Columns in_order(const NodeIndex& nodes, std::int64_t length) {
    return {divide_up(nodes.ranks(), length), length, nodes.ranks(), nullptr};
  }
  /// A node a column, as long as the largest one. `nodes` must live as long as the columns.
  static Columns of_nodes(const NodeIndex& nodes) { return {nodes.count(), nodes.largest(), nodes.ranks(), &nodes}; }

  std::int64_t count() const { return count_; }
  std::int64_t length() const { return length_; }
  bool are_nodes() const { return nodes_ != nullptr; }
  /// Columns so far apart and more have something to send each other.
  std::int64_t nearest() const { return are_nodes() ? 1 : 0; }

  Place of(Rank rank) const {
    if (!nodes_) return {rank.index / length_, rank.index % length_};
    const std::int64_t node = nodes_->node_of(rank);
    return {node, rank.index - nodes_->first_rank(node)};
  }
  /// Counted around the end of both; nobody where the place is empty.
  std::optional<Rank> at(std::int64_t column, std::int64_t place) const {
    column = modulo(column, count_);
    place = modulo(place, length_);
    if (nodes_ && place >= nodes_->size(column)) return std::nullopt;
    const std::int64_t rank = nodes_ ? nodes_->first_rank(column) + place : column * length_ + place;
    if (rank >= ranks_) return std::nullopt;
    return Rank{static_cast<std::int32_t>(rank)};
  }

 private:
  Columns(std::int64_t count, std::int64_t length, std::int64_t ranks, const NodeIndex* nodes)
      : count_(count), length_(length), ranks_(ranks), nodes_(nodes) {}

  std::int64_t count_, length_, ranks_;
  const NodeIndex* nodes_;  ///< nothing: in order
};

}  // namespace chasqui::plan
