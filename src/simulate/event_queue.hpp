// SPDX-License-Identifier: MIT
// A monotone priority queue of timed events: a hierarchy of wheels of 64 slots, one for each digit of the time to base 64.
// Events may be pushed at or after the time of the last batch only, which is what a simulation does; then a push is an
// append, and an event moves at most once per digit. Events of one time leave in the order they came: if ranks act in
// ascending order, so do those they send to, and memory is walked through, not jumped about in.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
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
  /// Events live in chunks that are used again, so the queue holds 16 bytes an event and little more.
  struct Chunk {
    Chunk* next = nullptr;
    std::uint32_t count = 0;
    std::array<Event, 127> events;
  };

  bool empty() const { return size_ == 0; }

  /// REQUIRES event.time >= the time of the last batch taken.
  void push(const Event& event) {
    append(event);
    ++size_;
  }

  /// All events of the smallest time, as a chain of chunks; give them back with `recycle`. REQUIRES !empty().
  Chunk* take() {
    if (levels_[0].occupied == 0) refill();
    const int slot = std::countr_zero(levels_[0].occupied);
    last_ = (last_ & ~kDigit) | static_cast<std::uint64_t>(slot);
    Chunk* const batch = empty_slot(levels_[0], slot);
    for (const Chunk* chunk = batch; chunk != nullptr; chunk = chunk->next) size_ -= chunk->count;
    return batch;
  }
  Time time() const { return Time{static_cast<std::int64_t>(last_)}; }  ///< of the last batch taken

  void recycle(Chunk* chain) {
    while (chain != nullptr) {
      Chunk* const next = chain->next;
      set_free(chain);
      chain = next;
    }
  }

 private:
  static constexpr int kBits = 6;
  static constexpr std::uint64_t kDigit = 63;

  struct Slot {
    Chunk* first = nullptr;
    Chunk* last = nullptr;  // valid if the slot is occupied
  };
  /// Level i: times whose highest digit that differs from last_ is digit i, by that digit. Level 0 also has last_ itself.
  struct Level {
    std::uint64_t occupied = 0;  // one bit a slot
    std::array<Slot, 64> slots;
  };

  void append(const Event& event) {
    const auto time = static_cast<std::uint64_t>(event.time.ticks);
    const int level = (63 - std::countl_zero((time ^ last_) | 1)) / kBits;
    const auto digit = static_cast<std::size_t>(time >> (level * kBits) & kDigit);
    Level& wheel = levels_[static_cast<std::size_t>(level)];
    Slot& slot = wheel.slots[digit];
    const bool fresh = (wheel.occupied >> digit & 1) == 0;
    if (fresh || slot.last->count == slot.last->events.size()) {
      Chunk* const chunk = free_chunk();
      (fresh ? slot.first : slot.last->next) = chunk;
      slot.last = chunk;
      wheel.occupied |= std::uint64_t{1} << digit;
    }
    slot.last->events[slot.last->count++] = event;
  }

  /// The next occupied slot of the lowest wheel that has one is spread over the wheels below.
  void refill() {
    std::size_t i = 1;
    while (levels_[i].occupied == 0) ++i;
    Chunk* chain = empty_slot(levels_[i], std::countr_zero(levels_[i].occupied));
    Time least = chain->events[0].time;
    for (const Chunk* chunk = chain; chunk != nullptr; chunk = chunk->next) {
      for (std::uint32_t e = 0; e < chunk->count; ++e) least = std::min(least, chunk->events[e].time);
    }
    last_ = static_cast<std::uint64_t>(least.ticks);
    while (chain != nullptr) {  // each chunk is free again before the next one is spread
      for (std::uint32_t e = 0; e < chain->count; ++e) append(chain->events[e]);
      Chunk* const next = chain->next;
      set_free(chain);
      chain = next;
    }
  }

  static Chunk* empty_slot(Level& level, int slot) {
    level.occupied &= ~(std::uint64_t{1} << slot);
    return level.slots[static_cast<std::size_t>(slot)].first;
  }

  Chunk* free_chunk() {
    Chunk* chunk = free_;
    if (chunk != nullptr) {
      free_ = chunk->next;
    } else {
      chunks_.push_back(std::unique_ptr<Chunk>(new Chunk));
      chunk = chunks_.back().get();
    }
    chunk->next = nullptr;
    chunk->count = 0;
    return chunk;
  }
  void set_free(Chunk* chunk) {
    chunk->next = free_;
    free_ = chunk;
  }

  std::array<Level, 11> levels_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* free_ = nullptr;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
};

}  // namespace chasqui::simulate
