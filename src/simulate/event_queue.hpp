// SPDX-License-Identifier: MIT
// A monotone priority queue of timed events: a radix heap. Events may be pushed at or after the time of the last batch
// only, which is what a simulation does; then a push is an append and each event moves O(log(time)) times in all.
// Events live in chunks that are used again, so the queue holds 16 bytes an event and little more.
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
  struct Chunk {
    std::uint32_t count = 0;
    Chunk* next = nullptr;
    std::array<Event, 255> events;
  };

  bool empty() const { return size_ == 0; }

  /// REQUIRES event.time >= the time of the last batch taken.
  void push(const Event& event) {
    append(event);
    ++size_;
  }

  /// All events of the smallest time, as a chain of chunks; give them back with `recycle`. REQUIRES !empty().
  Chunk* take() {
    if (buckets_[0] == nullptr) refill();
    Chunk* batch = buckets_[0];
    buckets_[0] = nullptr;
    for (const Chunk* chunk = batch; chunk != nullptr; chunk = chunk->next) size_ -= chunk->count;
    return batch;
  }
  Time time() const { return last_; }  ///< of the last batch taken

  void recycle(Chunk* chain) {
    while (chain != nullptr) {
      Chunk* next = chain->next;
      chain->next = free_;
      free_ = chain;
      chain = next;
    }
  }

 private:
  // Bucket 0: time == last_. Bucket i: the highest bit in which time and last_ differ is bit i-1.
  void append(const Event& event) {
    const auto differ = static_cast<std::uint64_t>(event.time.ticks ^ last_.ticks);
    Chunk*& head = buckets_[static_cast<std::size_t>(64 - std::countl_zero(differ))];
    if (head == nullptr || head->count == head->events.size()) {
      Chunk* fresh = free_;
      if (fresh != nullptr) {
        free_ = fresh->next;
      } else {
        chunks_.push_back(std::make_unique<Chunk>());
        fresh = chunks_.back().get();
      }
      fresh->count = 0;
      fresh->next = head;
      head = fresh;
    }
    head->events[head->count++] = event;
  }

  void refill() {
    std::size_t i = 1;
    while (buckets_[i] == nullptr) ++i;
    Chunk* chain = buckets_[i];
    buckets_[i] = nullptr;
    last_ = chain->events[0].time;
    for (const Chunk* chunk = chain; chunk != nullptr; chunk = chunk->next) {
      for (std::uint32_t e = 0; e < chunk->count; ++e) last_ = std::min(last_, chunk->events[e].time);
    }
    while (chain != nullptr) {  // each chunk is free again before the next one is spread
      for (std::uint32_t e = 0; e < chain->count; ++e) append(chain->events[e]);
      Chunk* next = chain->next;
      chain->next = free_;
      free_ = chain;
      chain = next;
    }
  }

  std::array<Chunk*, 65> buckets_{};
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Chunk* free_ = nullptr;
  Time last_{0};
  std::size_t size_ = 0;
};

}  // namespace chasqui::simulate
