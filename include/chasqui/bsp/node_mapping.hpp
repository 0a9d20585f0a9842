// SPDX-License-Identifier: MIT
// Which processor keeps which node of a d-ary search tree. Every processor can compute it alone: no table.
#pragma once

#include <cstdint>

namespace chasqui::bsp {

/// A random-looking permutation of 0 .. n-1: a Feistel network over the next even power of two, walked until
/// it falls into range. Time: O(1) expected (at most 4 steps on average).
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed);  ///< of 0 .. n-1, the same for the same seed
  std::uint64_t operator()(std::uint64_t i) const;   ///< where i goes

 private:
  std::uint64_t n_, seed_;
  int half_bits_;
};
/// Which processor holds a node of a tree.
class NodeMapping {
 public:
  /// Every node on a random processor.
  static NodeMapping random(std::int64_t p, std::uint64_t seed) { return {p, 2, 0, seed}; }
  /// The z-mapping: levels of at most p nodes go to different random processors; below, the children of all
  /// nodes that a processor keeps of a level are spread at random over z processors chosen for it at random.
  static NodeMapping z_mapping(std::int64_t p, std::int64_t d, std::int64_t z, std::uint64_t seed) {
    return {p, d, z, seed};
  }

  /// The processor of node `index` of `level` (0: the root). Time: O(level).
  std::int64_t owner(int level, std::int64_t index) const;
  /// The same when the owner of its parent is known. Time: O(1).
  std::int64_t child_owner(int level, std::int64_t index, std::int64_t parent_owner) const;
  bool is_random() const { return z_ == 0; }  ///< placed by a permutation instead of the z-mapping?

 private:
  NodeMapping(std::int64_t p, std::int64_t d, std::int64_t z, std::uint64_t seed);
  /// Has this level more nodes than there are processors?
  bool clustered(int level) const { return z_ > 0 && level > last_spread_level_; }

  std::int64_t p_, d_, z_;
  std::uint64_t seed_;
  int last_spread_level_ = 0;
};

}  // namespace chasqui::bsp
