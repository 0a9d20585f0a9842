// SPDX-License-Identifier: MIT
// What the machines that one processor belongs to share: its door, the blocks that arrived before their time, and those that
// are empty.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "chasqui/bsp/detail/endpoint.hpp"

namespace chasqui::bsp::detail {

/// Memory for the small things of one processor: the first of them lie in one place, so that a superstep of one among many
/// touches few lines. Given back when the processor is gone.
class Nest final : public std::pmr::memory_resource {
 private:
  static constexpr std::size_t kBytes = 256;

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (begin + bytes > kBytes) return ::operator new(bytes, std::align_val_t(alignment));
    used_ = begin + bytes;
    return room_ + begin;
  }
  void do_deallocate(void* place, std::size_t, std::size_t alignment) override {
    const auto at = reinterpret_cast<std::uintptr_t>(place), room = reinterpret_cast<std::uintptr_t>(room_);
    if (at < room || at >= room + kBytes) ::operator delete(place, std::align_val_t(alignment));
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  std::size_t used_ = 0;
  alignas(16) std::byte room_[kBytes];
};

/// Of many processors a superstep touches its first line, and the nest as far as it is used.
class alignas(64) Processor {
 public:
  explicit Processor(Endpoint& door);
  Processor(const Processor&) = delete;
  Processor& operator=(const Processor&) = delete;

  Endpoint& door() { return door_; }
  std::pmr::memory_resource* nest() { return &nest_; }
  bool ends() const { return ends_; }      ///< does the engine run the parts of an ending itself?
  bool spills() const { return spills_; }  ///< do blocks leave the memory?

  /// Appends the blocks of `channel` that have arrived to `to`.
  void claim(const Channel& channel, Blocks& to) {
    Pile arrived(door_.take());
    if (!arrived.empty() || any_early()) claim(channel, std::move(arrived), to);
  }
  /// Are there blocks that nobody has claimed?
  bool any_early() const { return early_ != nullptr && !early_->empty(); }
  /// A block of a superstep of `group` that is already over: somebody's sync(expected) counted too few.
  const Block* late(std::uint64_t group, std::uint64_t step) const;
  /// The program is over: what nobody has claimed goes back to where it came from, and the machine finds it when all have ended.
  void put_back();
  /// Waits for any block; the time does not count as work.
  void await(const Waiting& why);
  std::int64_t take_waited() { return std::exchange(waited_, 0); }

  /// An empty block for processor `to`. What was read is written again: its memory is known, and in the cache.
  BlockPtr fresh(std::int32_t to) {
    if (has_rooms_) {
      if (Buffer room = door_.room_for(to); room.borrowed()) {
        BlockPtr block = std::make_unique<Block>();
        block->payload = std::move(room);
        return block;
      }
    }
    return spares().take();
  }
  /// The blocks have been read.
  void recycle(Blocks& blocks) { spares().keep(blocks); }

  /// A fault that was noticed where nothing can be thrown; thrown by the next sync, or when the program ends.
  std::exception_ptr deferred;  ///< nullptr: none

 private:
  void claim(const Channel& channel, Pile arrived, Blocks& to);
  SpareBlocks& spares() { return own_spares_ ? *own_spares_ : *door_.spares(); }

  Endpoint& door_;
  using Early = std::map<Channel, std::vector<BlockPtr>>;
  std::unique_ptr<Early> early_;  ///< nullptr: none so far
  std::int64_t waited_ = 0;
  std::unique_ptr<SpareBlocks> own_spares_;  ///< nullptr: it shares those of its thread
  bool has_rooms_, ends_, spills_;
  Nest nest_;
};

}  // namespace chasqui::bsp::detail
