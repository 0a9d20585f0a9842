// SPDX-License-Identifier: MIT
// A machine whose processors are virtual: where its members sleep at the end of a superstep, what they sent each other meanwhile, and its books.
// Those who sleep in a section are woken as one list.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "bsp/shared_machine.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::bsp::detail {

struct VirtualProcessor;

/// Held for some instructions only.
class Holding {
 public:
  explicit Holding(std::atomic<bool>& busy) : busy_(busy) {
    for (int looks = 0; busy_.exchange(true, std::memory_order_acquire); ++looks) {
      if (looks < 100) run::cpu_relax();
      else sched_yield();
    }
  }
  ~Holding() { busy_.store(false, std::memory_order_release); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

 private:
  std::atomic<bool>& busy_;
};

/// A processor that sleeps at the end of a superstep, and what it brought.
struct Arrived {
  VirtualProcessor* one = nullptr;
  std::uint64_t step = 0;
  std::uint32_t flags = 0;
  std::int32_t member = 0;  ///< of the group
};

/// Some members of a machine: what those brought who sleep at the end of a superstep. Neighbours share one, so that
/// carriers rarely meet there.
struct alignas(kApart) Section {
  std::atomic<bool> busy{false};  ///< guards the rest
  std::int32_t first = 0;         ///< member
  std::int32_t members = 0;
  std::int32_t here = 0;
  Agreement agreement;
  std::vector<VirtualProcessor*> asleep;  ///< by member; nullptr: not here
  alignas(kApart) bool any = false;       ///< is there a row in the sum?
  std::uint64_t step = 0;
  Superstep sum;
  std::vector<Booking> others;  ///< rows of other supersteps

  bool has(std::int32_t member) const { return member >= first && member - first < members; }
  void add(const Arrived& arrived);
  void book(const Row& row, std::int64_t span, bool keep_row);
  void pay(MachineCosts& costs, bool keep_rows);
};

/// The last section to be full closes the books and lets all go. What is sent in meeting n lies in incoming[n % 2] of its
/// receiver, who takes it before it comes to n + 1; nobody sends in n + 2 before that.
struct VirtualGroup final : SharedGroup {
  VirtualGroup(const GroupInfo& description, std::int32_t most_sections);
  ~VirtualGroup() override;
  void close(bool keep_rows) override;
  /// A row of a member, with those of a section near the carrier.
  void book(std::int32_t carrier, const Row& row, std::int64_t span, bool keep_row);

  Section& section_of(std::int32_t member) {
    return sections[static_cast<std::size_t>(member) * sections.size() / static_cast<std::size_t>(info.members.count)];
  }

  using Incoming = std::atomic<Block*>[2];
  Incoming& incoming(std::int32_t member) { return incoming_[static_cast<std::size_t>(member)]; }
  void push(std::int32_t member, Block* block);
  /// What was sent to this member in the meeting before the present one, first come first.
  void take(std::int32_t member, Blocks& in);

  std::vector<Section> sections;
  const bool
      own_books;  ///< each carrier books in a section of its own: nobody reads there before all members have come
  std::uint32_t flags = 0;     ///< of the last meeting; stable until the next one is complete
  std::uint64_t meetings = 0;  ///< that are over
  alignas(kApart) std::atomic<std::size_t> full{0};

 private:
  std::unique_ptr<Incoming[]> incoming_;  ///< by member
};

}  // namespace chasqui::bsp::detail
