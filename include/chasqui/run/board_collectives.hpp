// SPDX-License-Identifier: MIT
// Collectives inside one node, on a board. Small ones (SmallCall): everybody who has something publishes one slot,
// everybody who needs it reads it; one line that all read beats every tree of point-to-point messages there.
// Long ones: staged (copied through the board, in rounds) or direct (threads read each other's buffers).
// All fold in rank order, so operators need not commute.
#pragma once

#include "chasqui/run/board.hpp"
#include "chasqui/run/call.hpp"
#include "chasqui/run/missing.hpp"
#include "chasqui/run/task.hpp"

namespace chasqui::run {

/// A collective of at most kSlotPayload bytes a rank, as a state machine that polls; no allocation.
class SmallCall {
 public:
  static bool fits(const Call& call) { return call.bytes() <= kSlotPayload; }

  /// Begins the board's next collective. REQUIRES fits(call), contiguous data.
  SmallCall(Board& board, const Call& call);

  /// Advances; true when the result is in place and the collective finished. Throws Error when sizes disagree.
  bool poll();

 private:
  void publish();
  void take(int slot);
  void conclude();

  Board& board_;
  const Call& call_;
  std::size_t bytes_;
  int first_ = 0;  ///< slots first_ .. last_-1 are read
  int last_ = 0;
  Missing missing_;
  bool published_ = false;
  bool reads_all_ = false;
  alignas(16) std::byte fold_[kSlotPayload];
};

/// Any size, through the stages of the board. Time per byte: two copies (reductions: three passes).
Task staged(Board& board, Call call);

/// Any size; every rank can read and write the memory of every other (threads). One copy per byte.
Task direct(Board& board, Call call);

/// Throws the Error for ranks that called with different sizes.
[[noreturn]] void throw_mismatch(const Call& call, int rank, int other, std::size_t theirs);

}  // namespace chasqui::run
