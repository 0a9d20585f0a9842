// SPDX-License-Identifier: MIT
// Long data on a board: each rank has a stage, which it fills in rounds that are numbered through all collectives. One rank's view of
// them all; invariants 6 and 7 of board.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "run/board/counters.hpp"
#include "run/board/shape.hpp"

namespace chasqui::run {

class Stages {
 public:
  static constexpr std::size_t kUsualRing = 256 * 1024;  ///< bytes of a stage in use when chunks are short

  Stages() = default;
  /// `memory`: `room` bytes for each rank.
  Stages(std::byte* memory, std::size_t room, Counters* counters, int ranks, int rank)
      : memory_(memory), room_(room), counters_(counters), own_(counters + rank),
        consumed_(counters, &Counters::consumed, ranks, rank) {}

  std::uint64_t round() const { return round_; }            ///< number of the next one
  void advance(std::uint64_t rounds) { round_ += rounds; }  ///< so many are used by the present collective
  /// The stage as chunks of this size from now on. Few `bytes` of it, and the ranks' parts close together, stay in the
  /// caches; what all others read is cheaper to write again once it has left them. A change waits until everybody has
  /// consumed what was there.
  void divide(std::size_t chunk, std::size_t bytes = kUsualRing) {
    const std::uint64_t depth = std::min(room_, std::max(bytes, 4 * chunk)) / chunk;
    if (chunk == chunk_ && depth == depth_) return;
    chunk_ = chunk;
    depth_ = depth;
    divided_ = round_;
  }
  /// Where `rank` puts its bytes of a round.
  std::byte* of(int rank, std::uint64_t round) const {
    return memory_ + (static_cast<std::size_t>(rank) * depth_ + round % depth_) * chunk_;
  }

  /// May this rank write its stage for `round`: has everybody consumed what it held?
  bool may_write(std::uint64_t round) {
    const std::uint64_t needed = std::max(divided_, round + 1 > depth_ ? round + 1 - depth_ : 0);
    return consumed_by_all_ >= needed || (consumed_by_all_ = consumed_.refreshed(needed)) >= needed;
  }
  /// This rank's is filled.
  void post(std::uint64_t round) { own_->posted.store(round + 1, std::memory_order_release); }
  bool has_posted(int rank, std::uint64_t round) const {
    return counters_[rank].posted.load(std::memory_order_acquire) > round;
  }
  /// The second phase of a round: this rank's part of the result is ready.
  void post_result(std::uint64_t round) { own_->result.store(round + 1, std::memory_order_release); }
  bool has_result(int rank, std::uint64_t round) const {
    return counters_[rank].result.load(std::memory_order_acquire) > round;
  }
  /// This rank has read all it needs of the round, and of those before it.
  void consume(std::uint64_t round) { own_->consumed.store(round + 1, std::memory_order_release); }
  /// Does `rank` need nothing of the round, or nothing more?
  bool has_consumed(int rank, std::uint64_t round) const {
    return counters_[rank].consumed.load(std::memory_order_acquire) > round;
  }
  /// `rank` has begun the present collective, so it has consumed all rounds before.
  void has_begun(int rank) { consumed_.note(rank, round_); }

  /// As if so many rounds had been, before the first one.
  void skip_to(std::uint64_t rounds) {
    round_ = divided_ = rounds;
    own_->consumed.store(rounds, std::memory_order_release);
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t room_ = 0;
  Counters* counters_ = nullptr;
  Counters* own_ = nullptr;
  std::uint64_t round_ = 0;
  std::uint64_t consumed_by_all_ = 0;
  Reached consumed_;
  std::size_t chunk_ = kLine;
  std::uint64_t depth_ = 1;
  std::uint64_t divided_ = 0;  ///< the round from which the present division holds
};

}  // namespace chasqui::run
