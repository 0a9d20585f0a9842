// SPDX-License-Identifier: MIT
// Names are given one after another round the circle, beginning behind the root. No subtree but that of the root contains the root, so
// between two visits to it the circle is a line, and a subtree has as many intervals as the line enters it.
#include "solve/clusters/interval_names.hpp"

#include <cstdint>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

class Naming {
 public:
  Naming(const Nodes& nodes, Rank root, const std::vector<Rank>& parent)
      : nodes_(nodes), root_(root), parent_(parent), P_(parent.size()), subtree_(P_, 0) {
    for (std::size_t rank = 0; rank < P_; ++rank) above(rank, [&](std::size_t a) { subtree_[a] |= bit(rank); });
  }

  std::optional<NamedTree> with_intervals(int most) {
    most_ = most;
    steps_ = 0;
    entered_.assign(P_, 0);
    at_.assign(P_, root_index());
    named_ = bit(root_index());
    filled_by_.assign(static_cast<std::size_t>(nodes_.count()), -1);
    const std::int64_t home = nodes_.node_of(root_);
    filled_by_[static_cast<std::size_t>(home)] = home;
    if (!name_from(1)) return std::nullopt;
    NamedTree tree{std::vector<Rank>(P_), std::vector<std::pair<Part, Part>>(P_)};
    for (std::size_t name = 0; name < P_; ++name) tree.name[at_[name]] = Rank{static_cast<std::int32_t>(name)};
    for (std::size_t rank = 0; rank < P_; ++rank) tree.subtree[rank] = parts(rank);
    return tree;
  }

 private:
  static std::uint32_t bit(std::size_t rank) { return std::uint32_t{1} << rank; }
  std::size_t root_index() const { return static_cast<std::size_t>(root_.index); }
  bool has(std::size_t subtree, std::size_t rank) const { return (subtree_[subtree] & bit(rank)) != 0; }
  std::int64_t node_of(std::size_t rank) const { return nodes_.node_of(Rank{static_cast<std::int32_t>(rank)}); }

  /// The rank itself and all above it but the root.
  template <typename Visit>
  void above(std::size_t rank, Visit visit) const {
    for (; rank != root_index(); rank = static_cast<std::size_t>(parent_[rank].index)) visit(rank);
  }

  /// Gives away the i-th name behind the root's and all after it.
  bool name_from(std::size_t i) {
    if (i == P_) return true;
    constexpr int kMostSteps = 100'000;
    if (++steps_ > kMostSteps) return false;
    const std::size_t name = (root_index() + i) % P_;
    const std::int64_t place = node_of(name);
    std::int64_t& filled_by = filled_by_[static_cast<std::size_t>(place)];
    const bool opens = filled_by < 0;
    for (std::size_t rank = 0; rank < P_; ++rank) {
      if ((named_ & bit(rank)) != 0) continue;
      const std::int64_t node = node_of(rank);
      if (opens ? is_placed(node) || nodes_.size(node) != nodes_.size(place) : node != filled_by) continue;
      if (!may_follow(rank, at_[(name + P_ - 1) % P_])) continue;
      const std::vector<int> before = entered_;
      above(rank, [&](std::size_t a) { entered_[a] += has(a, at_[(name + P_ - 1) % P_]) ? 0 : 1; });
      at_[name] = rank;
      named_ |= bit(rank);
      if (opens) filled_by = node;
      if (name_from(i + 1)) return true;
      if (opens) filled_by = -1;
      named_ &= ~bit(rank);
      entered_ = before;
    }
    return false;
  }

  bool is_placed(std::int64_t node) const {
    for (const std::int64_t other : filled_by_) {
      if (other == node) return true;
    }
    return false;
  }

  /// No subtree is entered once too often, or left for good before all of it has names.
  bool may_follow(std::size_t rank, std::size_t last) const {
    bool may = true;
    above(rank, [&](std::size_t a) { may = may && (has(a, last) || entered_[a] < most_); });
    above(last, [&](std::size_t a) {
      const bool complete = (subtree_[a] & ~named_) == 0;
      may = may && (has(a, rank) || complete || entered_[a] < most_);
    });
    return may;
  }

  /// The subtree of a rank as intervals of names.
  std::pair<Part, Part> parts(std::size_t rank) const {
    if (rank == root_index()) return {{0, static_cast<std::int32_t>(P_)}, {}};
    std::vector<Part> found;
    for (std::size_t i = 1; i < P_; ++i) {
      const std::size_t name = (root_index() + i) % P_;
      if (!has(rank, at_[name])) continue;
      if (i == 1 || !has(rank, at_[(name + P_ - 1) % P_])) found.push_back({static_cast<std::int32_t>(name), 0});
      ++found.back().len;
    }
    found.resize(2);
    return {found[0], found[1]};
  }

  const Nodes& nodes_;
  Rank root_;
  const std::vector<Rank>& parent_;
  std::size_t P_;
  std::vector<std::uint32_t> subtree_;  ///< by rank, bits are ranks; of the root: nothing
  int most_ = 1, steps_ = 0;
  std::vector<int> entered_;             ///< by rank: how often the names so far enter its subtree
  std::vector<std::size_t> at_;          ///< by name: the rank
  std::uint32_t named_ = 0;              ///< ranks that have a name
  std::vector<std::int64_t> filled_by_;  ///< by place of a node: which node has its names; -1: none yet
};

}  // namespace

std::optional<NamedTree> interval_names(const Nodes& nodes, Rank root, const std::vector<Rank>& parent) {
  CHASQUI_CHECK(parent.size() <= 32, "P={}", parent.size());
  Naming naming(nodes, root, parent);
  std::optional<NamedTree> tree = naming.with_intervals(1);
  return tree ? tree : naming.with_intervals(2);
}

}  // namespace chasqui::solve
