// SPDX-License-Identifier: MIT
#include "run/board/groups.hpp"

namespace chasqui::run {
namespace {

Groups as_seen_by(int rank, const Grouping& all, int ranks) {
  if (all.size == 0) return {};
  Groups seen{all.size, all.count, all.smallest(ranks), all.dealt ? all.count : 1, all.dealt ? 1 : all.size};
  seen.own = seen.group_of(rank);
  const int first = seen.rank_of(seen.own, 0);
  seen.place = (rank - first) / seen.step;
  seen.members = all.dealt ? (ranks - seen.own + all.count - 1) / all.count : std::min(all.size, ranks - first);
  return seen;
}

}  // namespace

OwnGroups::OwnGroups(const BoardGroups& all, int ranks, int rank) : readers_(as_seen_by(rank, all.readers, ranks)) {
  for (std::size_t i = 0; i < all.folds.size(); ++i) {
    folds_[i] = as_seen_by(rank, all.folds[i], ranks);
    if (!all.folds[i].dealt) continue;
    const auto neighbours = Grouping::neighbours(ranks, all.folds[i].size);
    const bool enough = neighbours.smallest(ranks) >= 2;  // members for two lines
    in_order_[i] = as_seen_by(rank, enough ? neighbours : Grouping::neighbours(ranks, ranks), ranks);
  }
}

}  // namespace chasqui::run
