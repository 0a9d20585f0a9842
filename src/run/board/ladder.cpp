// SPDX-License-Identifier: MIT
#include "run/board/ladder.hpp"

#include <algorithm>
#include <utility>

namespace chasqui::run {
namespace {

using GroupOf = std::vector<int>;  ///< of each rank

/// Numbered by their first ranks; at most `size` ranks to a group.
GroupOf cut(const GroupOf& groups, int size) {
  GroupOf all;
  std::vector<std::pair<int, int>> open(groups.size(),
                                        {-1, 0});  // by old group: the new one that is being filled, and its ranks
  int count = 0;
  for (const int group : groups) {
    auto& [now, ranks] = open[static_cast<std::size_t>(group)];
    if (now < 0 || ranks == size) {
      now = count++;
      ranks = 0;
    }
    ++ranks;
    all.push_back(now);
  }
  return all;
}

int first_of(const GroupOf& groups, int group) {
  return static_cast<int>(std::find(groups.begin(), groups.end(), group) - groups.begin());
}

/// The rungs of a climb, the lowest first.
std::vector<GroupOf> rungs_of(const Nearness& near, const Climb& climb, bool in_order) {
  std::vector<GroupOf> rungs;
  bool ordered = true;
  int lowest = 0;  // ranks of its largest group
  for (std::size_t level = 0; level < near.levels().size(); ++level) {
    const NearLevel& groups = near.levels()[level];
    const bool cuts = climb.chunk != 0 && climb.of == static_cast<int>(level), folds = (climb.up >> level & 1) != 0;
    if (cuts || folds) ordered = ordered && near.in_rank_order(static_cast<int>(level));
    if (cuts) rungs.push_back(cut(groups.group_of, climb.chunk));
    if (folds) rungs.push_back(groups.group_of);
    if (lowest == 0 && !rungs.empty()) lowest = cuts ? std::min(climb.chunk, groups.largest) : groups.largest;
  }
  if (!in_order || ordered) return rungs;
  return {cut(GroupOf(static_cast<std::size_t>(near.ranks()), 0), lowest)};
}

}  // namespace

Ladder::Ladder(const Nearness& near, const Climb& climb, int rank, bool in_order) {
  const std::vector<GroupOf> rungs = rungs_of(near, climb, in_order);
  const GroupOf& lowest = rungs.front();
  const auto ranks = static_cast<int>(lowest.size()), groups = *std::max_element(lowest.begin(), lowest.end()) + 1;
  const auto at = [](const GroupOf& of, int r) { return of[static_cast<std::size_t>(r)]; };
  rungs_ = static_cast<int>(rungs.size());
  std::vector<Leader> leaders;  // by lowest group
  for (int group = 0; group < groups; ++group) {
    Leader leader{static_cast<int>(ranks_.size()), 0};
    for (int r = 0; r < ranks; ++r) {
      if (at(lowest, r) != group) continue;
      if (r == rank) place_ = leader.members;
      ++leader.members;
      ranks_.push_back(r);
    }
    leaders.push_back(leader);
  }
  const auto leader_of = [&](int r) { return leaders[static_cast<std::size_t>(at(lowest, r))]; };
  first_ = leader_of(rank).first;
  members_ = leader_of(rank).members;
  // Of a group: its first rank's lowest group leads. Of those inside a group of the next rung, in the order of their first ranks.
  const auto inside = [&](std::size_t below, const GroupOf* around, int group) {
    std::vector<Leader> found;
    const GroupOf& inner = rungs[below];
    for (int r = 0, next = 0; r < ranks; ++r) {
      if (at(inner, r) != next) continue;  // not the first rank of its group
      ++next;
      if (around == nullptr || at(*around, r) == group) found.push_back(leader_of(r));
    }
    return found;
  };
  below_.emplace_back();
  for (std::size_t rung = 1; rung < rungs.size(); ++rung) {
    const int own = at(rungs[rung], rank);
    if (at(lowest, first_of(rungs[rung], own)) != at(lowest, rank)) break;  // others lead there
    below_.push_back(inside(rung - 1, &rungs[rung], own));
  }
  top_ = inside(rungs.size() - 1, nullptr, 0);
  goes_down_ = climb.down != 0;
  for (std::size_t level = 0; level < near.levels().size(); ++level) {
    if ((climb.down >> level & 1) == 0) continue;
    const GroupOf& told = near.levels()[level].group_of;
    const int leader = first_of(told, at(told, rank));
    if (leader != rank) {
      told_by_ = leader;
      return;
    }
    tells_ = tells_ || std::count(told.begin(), told.end(), at(told, rank)) > 1;
  }
}

Relayed::Relayed(std::shared_ptr<const Nearness> near, unsigned levels, int rank)
    : near_(std::move(near)), rank_(rank) {
  for (std::size_t level = 0; level < near_->levels().size(); ++level) {
    if ((levels >> level & 1) == 0) continue;
    const GroupOf& groups = near_->levels()[level].group_of;
    const int own = groups[static_cast<std::size_t>(rank)];
    own_.push_back({groups.data(), own, first_of(groups, own), std::count(groups.begin(), groups.end(), own) > 1});
  }
}

}  // namespace chasqui::run
