// SPDX-License-Identifier: MIT
// What programs with a lane for each rank of a node are built from: ranks and blocks by node and place, and their program.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "run/messages/all_lanes.hpp"

namespace chasqui::run {

/// One rank's program, step by step, among N nodes of n ranks.
class LaneBuilder {
 protected:
  static constexpr std::size_t parts_of(std::size_t all, std::size_t each) { return (all + each - 1) / each; }

  explicit LaneBuilder(const OnNodes& where)
      : shape_(where.shape), N_(static_cast<std::size_t>(where.nodes)), n_(static_cast<std::size_t>(where.node_size)),
        node_(static_cast<std::size_t>(shape_.rank) / n_), place_(static_cast<std::size_t>(shape_.rank) % n_),
        root_node_(static_cast<std::size_t>(shape_.root) / n_), root_place_(static_cast<std::size_t>(shape_.root) % n_),
        at_root_(shape_.rank == shape_.root), count_(shape_.count), bytes_(shape_.bytes()), ranks_(where.ranks) {}

  int peer(std::size_t node, std::size_t place) const { return ranks_[node * n_ + place]; }
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
  const std::size_t N_, n_, node_, place_;
  const std::size_t root_node_, root_place_;
  const bool at_root_;
  const std::size_t count_, bytes_;  ///< of one contribution or block
  Program program_;

 private:
  const std::vector<int>& ranks_;
};

}  // namespace chasqui::run
