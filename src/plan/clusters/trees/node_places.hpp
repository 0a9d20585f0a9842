// SPDX-License-Identifier: MIT
// Which node has which place of a tree whose nodes all send on equally many lanes (clusters.md, Theorem 46). Nodes of fewer ranks get
// places at which one rank sends or nobody does; the others follow each other round the order of nodes, from the root's on.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan/clusters/node_index.hpp"
#include "plan/clusters/trees/spread.hpp"

namespace chasqui::plan {

class NodePlaces {
 public:
  /// Small nodes are those of fewer ranks than the tree has lanes. REQUIRES a tree of all nodes, and that the root's node is not small.
  NodePlaces(const Cluster& cluster, Rank root, Spread tree);

  /// Are there as many places for small nodes as there are small nodes? If not, nothing else may be asked.
  bool fit() const { return fit_; }

  const Spread& tree() const { return tree_; }
  const NodeIndex& where() const { return where_; }
  std::int64_t root_node() const { return root_node_; }

  // Time: that of Spread::node; where there are small nodes about as many times as the tree is deep.
  std::int64_t node_at(const Spread::Node& place) const;
  Spread::Node place_of(std::int64_t node) const;

  /// Of a node that nobody is entered later than. It has several ranks if any but the root's has.
  std::int64_t last_size() const { return last_size_; }

 private:
  /// Neighbours of one size, from this node on.
  struct Run {
    std::int64_t node = 0, size = 0;
    std::int64_t small_before = 0;  ///< small nodes before it
  };

  bool small(std::int64_t size) const { return size < tree_.shape().lanes; }
  const Run& run_of(std::int64_t node) const;
  std::int64_t small_before(std::int64_t node) const;
  std::int64_t small_node(std::int64_t number) const;
  std::int64_t large_node(std::int64_t number) const;  ///< counted round from the root's
  std::int64_t large_number(std::int64_t node) const;

  /// May one rank alone do what is done at this place?
  bool narrow(const Spread::Node& place) const { return place.size == 1 || tree_.habit(place.left).lanes < 2; }
  /// The last place is kept for another node, so that one knows when the broadcast ends.
  bool for_small(const Spread::Node& place) const { return place.index > 0 && place.index != last_ && narrow(place); }
  /// Of a subtree: so many places.
  std::int64_t narrow_in(const Spread::Node& place) const;
  std::int64_t for_small_in(const Spread::Node& place) const;
  /// Of the places for small nodes, or of the others, the one with this number. Time: as node_at.
  Spread::Node select(bool for_small_ones, std::int64_t number) const;
  std::int64_t for_small_before(std::int64_t index) const;

  /// Is this subtree as large as its time allows, wherever it is?
  bool whole(const Spread::Node& place) const {
    return place.size == tree_.count(place.left) && place.size < where_.count();
  }
  Spread::Node whole_subtree(std::int64_t left) const { return {0, 0, left, tree_.count(left), -1, 0, 0}; }
  /// Looks up in advance what is asked of whole subtrees below this place.
  void look_up(const Spread::Node& place);
  struct WholeSubtree {
    std::int64_t narrow = 0;
    bool to_the_end = false;  ///< somebody is entered when no time is left
  };
  /// The first place with no time left, if any.
  std::optional<std::int64_t> last_in(const Spread::Node& place) const;
  /// The other one of two places that have changed their nodes.
  std::int64_t changed(std::int64_t index) const {
    return index == last_ ? changed_for_ : index == changed_for_ ? last_ : index;
  }

  Spread tree_;
  NodeIndex where_;
  std::int64_t root_node_, small_ = 0;
  std::int64_t last_ = -1, changed_for_ = -1, last_size_ = 0;
  std::int64_t last_small_ = -1;  ///< the last place of a small node
  bool fit_ = true;
  std::vector<Run> runs_;
  std::unordered_map<std::int64_t, WholeSubtree> whole_;  ///< by time left
};

}  // namespace chasqui::plan
