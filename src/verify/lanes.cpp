// SPDX-License-Identifier: MIT
#include "verify/lanes.hpp"

#include <algorithm>

namespace chasqui::verifier {

Directory::Directory(std::int64_t P, std::vector<std::int32_t> mentioned) : P_(P) {
  dense_ = P / 4 <= static_cast<std::int64_t>(mentioned.size()) + 1024;
  if (dense_) return;
  std::sort(mentioned.begin(), mentioned.end());
  mentioned.erase(std::unique(mentioned.begin(), mentioned.end()), mentioned.end());
  for (const std::int32_t rank : mentioned) listed_.push_back(Rank{rank});
}

std::size_t Directory::id(Rank rank) const {
  if (dense_) return static_cast<std::size_t>(rank.index);
  return static_cast<std::size_t>(std::lower_bound(listed_.begin(), listed_.end(), rank) - listed_.begin());
}

Lanes::Lanes(std::size_t lanes, const std::vector<std::uint32_t>& lane_of, std::vector<Event> events)
    : first_(lanes + 1, 0), events_(events.size()) {
  for (const std::uint32_t lane : lane_of) ++first_[lane + 1];
  for (std::size_t lane = 0; lane < lanes; ++lane) first_[lane + 1] += first_[lane];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < events.size(); ++i) events_[next[lane_of[i]]++] = events[i];
  // Schedules come in order of time as a rule, and then so do the lanes.
  const auto earlier = [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.index < b.index;
  };
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(first_[lane]);
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(first_[lane + 1]);
    if (!std::is_sorted(begin, end, earlier)) std::sort(begin, end, earlier);
  }
}

}  // namespace chasqui::verifier
