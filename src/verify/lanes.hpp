// SPDX-License-Identifier: MIT
// Events grouped by processor, each group in order of time: flat arrays, no table of size P unless P is small
// compared with the number of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "chasqui/model/units.hpp"

namespace chasqui::verifier {

/// The processors that take part, numbered 0 .. count()-1 in rank order.
class Directory {
 public:
  Directory() = default;

  /// `mentioned` in any order, with repetitions. All P ranks are listed when P <= 4 * mentioned + 4096.
  Directory(std::int64_t P, std::vector<std::int32_t> mentioned) : P_(P) {
    dense_ = P / 4 <= static_cast<std::int64_t>(mentioned.size()) + 1024;
    if (dense_) return;
    std::sort(mentioned.begin(), mentioned.end());
    mentioned.erase(std::unique(mentioned.begin(), mentioned.end()), mentioned.end());
    for (const std::int32_t rank : mentioned) listed_.push_back(Rank{rank});
  }

  std::size_t count() const { return dense_ ? static_cast<std::size_t>(P_) : listed_.size(); }
  Rank rank(std::size_t id) const { return dense_ ? Rank{static_cast<std::int32_t>(id)} : listed_[id]; }

  /// REQUIRES: the rank was mentioned, or all are listed.
  std::size_t id(Rank rank) const {
    if (dense_) return static_cast<std::size_t>(rank.index);
    return static_cast<std::size_t>(std::lower_bound(listed_.begin(), listed_.end(), rank) - listed_.begin());
  }

 private:
  std::int64_t P_ = 0;
  bool dense_ = true;
  std::vector<Rank> listed_;
};

struct Event {
  std::int64_t time = 0;
  std::uint32_t index = 0;  ///< into Schedule::sends or ::adds
};

/// Events by processor id, in order of (time, index) within each.
class Lanes {
 public:
  Lanes() = default;
  Lanes(std::size_t lanes, const std::vector<std::uint32_t>& lane_of, std::vector<Event> events)
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

  std::size_t count() const { return first_.empty() ? 0 : first_.size() - 1; }
  std::span<const Event> of(std::size_t lane) const {
    return {events_.data() + first_[lane], first_[lane + 1] - first_[lane]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Event> events_;
};

}  // namespace chasqui::verifier
