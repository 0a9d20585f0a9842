// SPDX-License-Identifier: MIT
#include "solve/clusters/renamings.hpp"

#include <algorithm>
#include <numeric>

namespace chasqui::solve {
namespace {

class Renamings {
 public:
  Renamings(const Nodes& nodes, int most, const std::function<bool(const std::vector<Rank>&)>& fits)
      : nodes_(nodes), left_(most), fits_(fits), names_(static_cast<std::size_t>(nodes.ranks())),
        taken_(static_cast<std::size_t>(nodes.count()), false) {}

  /// The names of this node's ranks, those of a node that is not taken, in every order; then the nodes after it.
  bool any(std::int64_t node = 0) {
    if (left_ <= 0) return false;
    if (node == nodes_.count()) return --left_, fits_(names_);
    for (std::int64_t place = 0; place < nodes_.count(); ++place) {
      if (taken_[static_cast<std::size_t>(place)] || nodes_.size(place) != nodes_.size(node)) continue;
      taken_[static_cast<std::size_t>(place)] = true;
      std::vector<std::int64_t> order(static_cast<std::size_t>(nodes_.size(node)));
      std::iota(order.begin(), order.end(), nodes_.first_rank(place));
      do {
        for (std::size_t i = 0; i < order.size(); ++i)
          names_[static_cast<std::size_t>(nodes_.first_rank(node)) + i] = Rank{static_cast<std::int32_t>(order[i])};
        if (any(node + 1)) return true;
      } while (left_ > 0 && std::next_permutation(order.begin(), order.end()));
      taken_[static_cast<std::size_t>(place)] = false;
    }
    return false;
  }

 private:
  const Nodes& nodes_;
  int left_;
  const std::function<bool(const std::vector<Rank>&)>& fits_;
  std::vector<Rank> names_;
  std::vector<bool> taken_;  ///< by place of a node
};

}  // namespace

bool any_renaming(const Nodes& nodes, int most, const std::function<bool(const std::vector<Rank>&)>& fits) {
  return Renamings(nodes, most, fits).any();
}

}  // namespace chasqui::solve
