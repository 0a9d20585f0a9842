// SPDX-License-Identifier: MIT
#include "run/board/groups.hpp"

namespace chasqui::run {
namespace {

Groups as_seen_by(int rank, const Grouping& all, int ranks) {
  if (all.size == 0) return {};
  Groups seen{all.size, all.count, all.smallest(ranks)};
  seen.own = rank / all.size;
  seen.place = rank % all.size;
  seen.members = std::min(all.size, ranks - seen.rank_of(seen.own, 0));
  return seen;
}

}  // namespace

OwnGroups::OwnGroups(const BoardGroups& all, int ranks, int rank, const std::shared_ptr<const Nearness>& near) {
  for (std::size_t i = 0; i < all.folds.size(); ++i) folds_[i] = as_seen_by(rank, all.folds[i], ranks);
  if (near == nullptr) return;
  const auto levels = std::make_shared<Levels>();
  for (std::size_t i = 0; i < all.climbs.size(); ++i) {
    if (all.climbs[i].none()) continue;
    levels->ladders[i] = Ladder(*near, all.climbs[i], rank, false);
    levels->in_order[i] = Ladder(*near, all.climbs[i], rank, true);
  }
  if (all.relay != 0) levels->readers = Relayed(near, all.relay, rank);
  levels_ = levels;
}

}  // namespace chasqui::run
