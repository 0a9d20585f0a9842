// SPDX-License-Identifier: MIT
// A board is memory that all ranks of one node see: threads of a process, or processes with a shared window. Each rank
// has small slots (a cache line holds value and sequence number together, so one miss brings both), counters that only
// it writes, and a stage for long data. Everything is read by all: publishing costs one write however many read.
// The collectives of a board run one after another, in the same order on every rank.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace chasqui::run {

inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kLinePayload = kLine - sizeof(std::uint64_t);
inline constexpr std::size_t kSlotPayload = 2 * kLinePayload;  ///< a slot is two lines
inline constexpr std::size_t kSlotLines = 4;  ///< two lines of space between slots: measured a third faster (bench/node/lines.cpp)
inline constexpr std::uint64_t kSlotRing = 16;                 ///< slots a rank can be ahead of the slowest

struct BoardShape {
  int ranks = 1;
  std::size_t stage = 256 * 1024;  ///< bytes a rank can have staged

  /// All stages together stay below 64 MiB.
  static BoardShape for_ranks(int ranks);
  std::size_t bytes() const;
};

/// One rank's view of a board.
class Board {
 public:
  /// `memory` is zeroed, line-aligned, of shape.bytes() bytes, and outlives the view.
  Board(void* memory, const BoardShape& shape, int rank);

  int rank() const { return rank_; }
  int ranks() const { return shape_.ranks; }
  const BoardShape& shape() const { return shape_; }
  bool crowded() const { return crowded_; }

  // --- the order of collectives
  std::uint64_t current() const { return sequence_; }
  std::uint64_t begin() { return ++sequence_; }  ///< the number of the next collective, the same on every rank
  void finish() { done(rank_).store(sequence_, std::memory_order_release); }
  /// Everybody has begun the current collective, hence finished the previous one.
  void everybody_began() { slowest_ = sequence_ - 1; }

  // --- small slots
  /// May the slots of the current collective be written: has everybody read what they held?
  bool may_publish() { return slowest_ + kSlotRing >= sequence_ || refresh_slowest() + kSlotRing >= sequence_; }
  void publish(int slot, const void* data, std::size_t bytes, std::size_t total);
  bool published(int slot) const {
    return (line(slot, 0)->header.load(std::memory_order_acquire) >> kSizeBits) == sequence_;
  }
  /// What the publisher said the size of its data is, modulo 2^20.
  std::size_t published_total(int slot) const {
    return line(slot, 0)->header.load(std::memory_order_relaxed) & kSizeMask;
  }
  static std::size_t reduced_total(std::size_t total) { return total & kSizeMask; }
  /// True when all `bytes` are there (a second line may lag).
  bool arrived(int slot, std::size_t bytes) const {
    return published(slot) && (bytes <= kLinePayload || second_arrived(slot));
  }
  void read(int slot, void* data, std::size_t bytes) const;

  // --- long data, in rounds
  std::uint64_t round() const { return round_; }
  void advance_rounds(std::uint64_t rounds) { round_ += rounds; }
  /// The stage as chunks of this size from now on. A change waits until everybody has consumed what was there.
  void divide_stage(std::size_t chunk) {
    if (chunk == chunk_) return;
    chunk_ = chunk;
    depth_ = shape_.stage / chunk;
    divided_ = round_;
  }
  std::byte* stage(int rank, std::uint64_t round) const {
    return stages_ + static_cast<std::size_t>(rank) * shape_.stage + (round % depth_) * chunk_;
  }
  /// May this rank write its stage for `round`: has everybody consumed what it held?
  bool may_stage(std::uint64_t round) {
    const std::uint64_t needed = std::max(divided_, round + 1 > depth_ ? round + 1 - depth_ : 0);
    return consumed_by_all_ >= needed || refresh_consumed() >= needed;
  }
  void post(std::uint64_t round) { counters_[rank_].posted.store(round + 1, std::memory_order_release); }
  bool has_posted(int rank, std::uint64_t round) const {
    return counters_[rank].posted.load(std::memory_order_acquire) > round;
  }
  /// The second phase of a round: this rank's part of the result is ready.
  void post_result(std::uint64_t round) { counters_[rank_].result.store(round + 1, std::memory_order_release); }
  bool has_result(int rank, std::uint64_t round) const {
    return counters_[rank].result.load(std::memory_order_acquire) > round;
  }
  void consume(std::uint64_t round) { consumed(rank_).store(round + 1, std::memory_order_release); }
  bool all_finished() { return slowest_ >= sequence_ || refresh_slowest() >= sequence_; }

  // --- bad news: collectives first .. last failed on some rank, and why
  void report(std::uint64_t first, std::uint64_t last, const std::string& why);
  /// This rank refused its arguments for a collective. Harmless if all ranks did.
  void refuse(std::uint64_t number);
  /// Did a collective up to `number` fail elsewhere, or did a rank refuse one that is not in `own`?
  bool failed(std::uint64_t number, const std::vector<std::uint64_t>& own) const;
  std::string failure() const;

 private:
  static constexpr int kSizeBits = 20;
  static constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << kSizeBits) - 1;

  static constexpr std::size_t kRefusals = 8;

  struct alignas(kLine) Line {
    std::atomic<std::uint64_t> header;
    std::byte payload[kLinePayload];
  };
  static_assert(sizeof(Line) == kLine);
  struct alignas(2 * kLine) Counters {
    std::atomic<std::uint64_t> done;
    alignas(kLine) std::atomic<std::uint64_t> posted;
    alignas(kLine) std::atomic<std::uint64_t> result;
    alignas(kLine) std::atomic<std::uint64_t> consumed;
    alignas(kLine) std::atomic<std::uint64_t> refused[kRefusals];  ///< the numbers of the last refusals
  };
  struct alignas(2 * kLine) News {
    std::atomic<std::uint32_t> state;  ///< 0 none, 1 being written, 2 there
    std::atomic<std::uint64_t> first;
    std::atomic<std::uint64_t> last;
    char why[400];
  };
  friend struct BoardShape;

  /// Two lines a slot, the pair that processors fetch together, and as much space: no rank's line comes along with
  /// another's.
  Line* line(int slot, int which) const {
    return slots_ + kSlotLines * ((sequence_ % kSlotRing) * static_cast<std::size_t>(shape_.ranks) + static_cast<std::size_t>(slot)) +
           which;
  }
  bool second_arrived(int slot) const {
    return (line(slot, 1)->header.load(std::memory_order_acquire) >> kSizeBits) == sequence_;
  }
  std::atomic<std::uint64_t>& done(int rank) const { return counters_[rank].done; }
  std::atomic<std::uint64_t>& consumed(int rank) const { return counters_[rank].consumed; }
  std::uint64_t refresh_slowest();
  std::uint64_t refresh_consumed();

  BoardShape shape_;
  int rank_;
  bool crowded_;
  News* news_;
  Counters* counters_;
  Line* slots_;
  std::byte* stages_;
  std::uint64_t sequence_ = 0;
  std::uint64_t slowest_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t consumed_by_all_ = 0;
  std::size_t chunk_ = kLine;
  std::uint64_t depth_ = 1;
  std::uint64_t divided_ = 0;  ///< the round from which the present division of the stage holds
  std::size_t refusals_ = 0;
};

}  // namespace chasqui::run
