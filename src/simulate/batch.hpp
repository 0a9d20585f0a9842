// SPDX-License-Identifier: MIT
// What happens at one instant, in blocks of neighbouring ranks. Ranks act independently of each other at an instant, so any
// order will do; this one keeps to a part of memory that fits into the cache, where first come, first served would
// jump about in all of it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/event_queue.hpp"

namespace chasqui::simulate {

class Batch {
 public:
  /// An event without its time, which is the same for all.
  struct Entry {
    Rank rank;
    std::uint32_t message;
  };

  explicit Batch(std::int64_t ranks) {
    const auto highest = static_cast<std::uint64_t>(std::max<std::int64_t>(ranks, 1) - 1);
    shift_ = std::max(kBlockBits, static_cast<int>(std::bit_width(highest)) - kMostBlocksBits);
    ends_.resize((highest >> shift_) + 1);
  }

  /// The events of the chain, block by block, and inside a block in their order. Time: O(events + blocks).
  void gather(const EventQueue::Chunk* chain) {
    std::fill(ends_.begin(), ends_.end(), 0);
    std::size_t count = 0;
    for (const auto* chunk = chain; chunk != nullptr; chunk = chunk->next) {
      for (std::uint32_t i = 0; i < chunk->count; ++i) ++ends_[block(chunk->events[i].rank)];
      count += chunk->count;
    }
    std::uint32_t begin = 0;
    for (std::uint32_t& end : ends_) begin += std::exchange(end, begin);
    if (entries_.size() < count) entries_.resize(count);
    for (const auto* chunk = chain; chunk != nullptr; chunk = chunk->next) {
      for (std::uint32_t i = 0; i < chunk->count; ++i) {
        const Event& event = chunk->events[i];
        entries_[ends_[block(event.rank)]++] = {event.rank, event.message};
      }
    }
  }

  /// Calls `act(first, end)`, a range of entry(i), for each block that has any.
  template <typename Act>
  void for_each_block(Act act) const {
    std::uint32_t first = 0;
    for (const std::uint32_t end : ends_) {
      if (end > first) act(first, end);
      first = end;
    }
  }
  const Entry& entry(std::uint32_t i) const { return entries_[i]; }
  std::uint32_t size() const { return ends_.back(); }

 private:
  static constexpr int kBlockBits = 11;       // ranks of a block: their state, messages and times are some 150 kB
  static constexpr int kMostBlocksBits = 10;  // more blocks than that and filling them jumps about, too

  std::size_t block(Rank rank) const { return static_cast<std::size_t>(rank.index) >> shift_; }

  int shift_;
  std::vector<std::uint32_t> ends_;  // of the blocks in entries_
  std::vector<Entry> entries_;
};

}  // namespace chasqui::simulate
