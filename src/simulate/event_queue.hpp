// SPDX-License-Identifier: MIT
// A monotone priority queue of timed events: a radix heap. Events may be pushed at or after the time of the last pop
// only, which is what a simulation does; then a push is an append and a pop moves each event O(log(time)) times.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "chasqui/model/units.hpp"

namespace chasqui::simulate {

/// A message arrives at a rank, or (kWake) the rank is to look what it can do now.
struct Event {
  static constexpr std::uint32_t kWake = 0xffffffff;

  Time time;
  Rank rank;
  std::uint32_t message;
};
static_assert(sizeof(Event) == 16);

class EventQueue {
 public:
  bool empty() const { return size_ == 0; }

  /// REQUIRES event.time >= the time of the last batch taken.
  void push(const Event& event) {
    buckets_[bucket(event.time)].push_back(event);
    ++size_;
  }

  /// Moves all events of the smallest time into `batch` and returns that time. REQUIRES !empty().
  Time take(std::vector<Event>& batch) {
    if (buckets_[0].empty()) refill();
    batch.swap(buckets_[0]);
    buckets_[0].clear();
    size_ -= batch.size();
    return last_;
  }

 private:
  // Bucket 0: time == last_. Bucket i: the highest bit in which time and last_ differ is bit i-1.
  std::size_t bucket(Time time) const {
    return static_cast<std::size_t>(64 - std::countl_zero(static_cast<std::uint64_t>(time.ticks ^ last_.ticks)));
  }

  void refill() {
    std::size_t i = 1;
    while (buckets_[i].empty()) ++i;
    last_ = buckets_[i].front().time;
    for (const Event& event : buckets_[i]) last_ = event.time < last_ ? event.time : last_;
    spare_.swap(buckets_[i]);
    for (const Event& event : spare_) buckets_[bucket(event.time)].push_back(event);
    spare_.clear();
  }

  std::array<std::vector<Event>, 65> buckets_;
  std::vector<Event> spare_;
  Time last_{0};
  std::size_t size_ = 0;
};

}  // namespace chasqui::simulate
