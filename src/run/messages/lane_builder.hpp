// SPDX-License-Identifier: MIT
// What programs with a lane for each rank of a node are built from: ranks and blocks by node and place, and their program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "run/messages/all_lanes.hpp"

namespace chasqui::run {

/// Which ranks each node has, and what messages call them.
class RanksOfNodes {
 public:
  RanksOfNodes(const Nodes& nodes, const std::vector<int>& names) : names_(names) {
    for (const Nodes::Run& run : nodes.runs)
      for (std::int64_t i = 0; i < run.count; ++i) first_.push_back(first_.back() + static_cast<std::size_t>(run.size));
  }
  std::size_t nodes() const { return first_.size() - 1; }
  std::size_t ranks() const { return first_.back(); }
  std::size_t first(std::size_t node) const { return first_[node]; }
  std::size_t size(std::size_t node) const { return first_[node + 1] - first_[node]; }
  std::size_t node_of(int rank) const {
    const auto behind = std::upper_bound(first_.begin(), first_.end(), static_cast<std::size_t>(rank));
    return static_cast<std::size_t>(behind - first_.begin()) - 1;
  }
  int name(std::size_t node, std::size_t place) const { return names_[first_[node] + place]; }

 private:
  std::vector<std::size_t> first_ = {0};  ///< rank of each node; then all ranks
  const std::vector<int>& names_;
};

/// One rank's program, step by step, among N nodes, of which its own has n ranks.
class LaneBuilder {
 protected:
  static constexpr std::size_t parts_of(std::size_t all, std::size_t each) { return (all + each - 1) / each; }

  explicit LaneBuilder(const OnNodes& where)
      : shape_(where.shape), on_(where.nodes, where.ranks), N_(on_.nodes()), node_(on_.node_of(shape_.rank)),
        place_(static_cast<std::size_t>(shape_.rank) - on_.first(node_)), n_(size(node_)),
        root_node_(on_.node_of(shape_.root)),
        root_place_(static_cast<std::size_t>(shape_.root) - on_.first(root_node_)),
        at_root_(shape_.rank == shape_.root), count_(shape_.count), bytes_(shape_.bytes()) {}

  std::size_t size(std::size_t node) const { return on_.size(node); }
  /// Of so many nodes from this one on, in the ring of nodes.
  std::size_t ranks_of(std::size_t nodes) const {
    const std::size_t end = node_ + nodes;
    return (end <= N_ ? on_.first(end) : on_.ranks() + on_.first(end - N_)) - on_.first(node_);
  }
  int peer(std::size_t node, std::size_t place) const { return on_.name(node, place); }
  Address block(Address data, std::size_t number) const { return data + number * bytes_; }
  Address input_of(std::size_t node, std::size_t place) const {
    return block(kInput, static_cast<std::size_t>(peer(node, place)));
  }
  Address output_of(std::size_t node, std::size_t place) const {
    return block(kOutput, static_cast<std::size_t>(peer(node, place)));
  }
  Address scratch(std::size_t blocks) { return program_.more_scratch(blocks * bytes_); }
  void copy(Address to, Address from) { program_.copy(to, {from, bytes_}); }
  Address folded(Address left, Address right) {
    const Address to = scratch(1);
    if (count_ != 0) program_.fold(left, right, to, count_);
    return to;
  }
  void board(Kind kind, std::size_t root, Address in, Address out, std::size_t count, bool exclusive = false,
             std::size_t contributors = 0) {
    program_.board({kind, static_cast<int>(root), static_cast<int>(contributors), in, out, count, exclusive});
  }

  /// before: of the ranks of this node below this one, if any; below: of all nodes below.
  void finish_scan(Address before, std::optional<Address> below) {
    if (count_ == 0) return;
    std::optional<Address> fold = below;
    if (place_ != 0) fold = below ? folded(*below, before) : before;
    if (shape_.exclusive) {
      if (fold) copy(kOutput, *fold);
    } else if (fold) {
      program_.fold(*fold, kInput, kOutput, count_);
    } else {
      copy(kOutput, kInput);
    }
  }

  const Shape& shape_;
  const RanksOfNodes on_;
  const std::size_t N_, node_, place_, n_;
  const std::size_t root_node_, root_place_;
  const bool at_root_;
  const std::size_t count_, bytes_;  ///< of one contribution or block
  Program program_;
};

}  // namespace chasqui::run
