// SPDX-License-Identifier: MIT
// Collectives inside one node, on a board. Short ones (SmallCall): everybody who has something publishes one slot,
// everybody who needs it reads it; one line that all read beats every tree of point-to-point messages there. Where
// there are many lines to read, leaders fold for their groups (LedFold) or a share each for all (DealtFold).
// Long ones: staged (copied through the board, in rounds), direct (threads read each other's buffers) or across
// (processes reach into each other's memory).
// All fold in rank order, so operators need not commute.
#pragma once

#include "chasqui/run/call.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/wait/awaited.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Bytes of what a slot holds: all blocks of a scatter.
inline std::size_t slot_bytes(const Board& board, const Call& call) {
  if (call.kind == Kind::barrier) return 0;
  return call.kind == Kind::scatter ? call.bytes() * static_cast<std::size_t>(board.ranks()) : call.bytes();
}

Way way_of_more(const Board& board, const Call& call, std::size_t bytes);  ///< where more is to be asked
/// How a board runs a call: the same answer on every rank.
inline Way way_of(const Board& board, const Call& call) {
  const std::size_t bytes = slot_bytes(board, call);
  const bool led = board.grouped() && combines(call.kind);
  return bytes <= kSlotPayload && !led ? Way::slots : way_of_more(board, call, bytes);
}

/// A collective whose contributions fit a slot (src/run/small_call.hpp).
class SmallCall;

/// All-reduce or barrier in two steps, or a reduction of two lines. Contributions are parts of one line each (at most
/// two); in each group of ranks, member i folds part i of its group and publishes that; everybody, or the root, reads the
/// results of all groups.
class LedFold {
 public:
  /// Is this the way for this call on this board? The same answer on every rank.
  static bool suits(const Board& board, const Call& call);

  /// Begins the board's next collective. REQUIRES suits(board, call), contiguous data.
  LedFold(Board& board, const Call& call);

  /// As SmallCall::poll().
  bool poll();

 private:
  /// Member `part` of each group leads that part; groups have at least two members.
  int leader(int group, int part) const { return group * groups_.size + part; }
  bool leads(int part) const { return board_.rank() - groups_.base == part; }
  void publish();
  bool lead();
  void look_at_group();
  bool results_here() const;
  void fold_group(int part);
  void take(int part);
  std::size_t count(int part) const { return begin_[part + 1] - begin_[part]; }

  Board& board_;
  const Call& call_;
  std::size_t total_;
  int parts_;
  const Groups& groups_;
  std::size_t begin_[3];  ///< the first element of each part, and the end
  int part_ = 0;          ///< leading: the part being collected
  bool published_ = false;
  bool led_ = false;     ///< this rank has folded all that it leads
  bool looked_ = false;  ///< at the results
  Missing missing_;
};

/// Reduce or all-reduce of contributions beside the lines: some ranks fold a share of everybody's each, in place; everybody,
/// or the root, reads the shares. All-reduce of threads (lent): contributions stay where they are, and only the folded
/// shares lie beside the lines, so nobody must wait at the end until the others have read its own.
class DealtFold {
 public:
  /// Lent: do the shares fit beside the lines?
  static bool fits(const Board& board, const Call& call);

  /// Begins the board's next collective. REQUIRES way_of(board, call) == Way::dealt or Way::lent, contiguous data.
  DealtFold(Board& board, const Call& call);

  /// As SmallCall::poll().
  bool poll();

 private:
  std::size_t begin(int share) const { return static_cast<std::size_t>(share) * share_ * call_.element; }
  std::size_t end(int share) const { return std::min(begin(share + 1), total_); }
  std::byte* share_at(int share) const { return board_.wide(share) + (lent_ ? 0 : begin(share)); }
  const std::byte* contribution(int rank) const;
  void publish();
  void fetch() const;
  bool contributed(int rank) const;
  void fold_own();
  bool shares_here();
  void take();

  Board& board_;
  const Call& call_;
  std::size_t total_;
  std::size_t share_;  ///< elements of a share; the last may have fewer
  int shares_;         ///< rank i folds share i
  bool lent_;          ///< contributions are read where their owners have them
  bool reads_;         ///< wants the result
  bool published_ = false;
  bool folded_;
  bool looked_ = false;
  Missing missing_;
};

/// Any size, through the stages of the board. Time per byte: two copies (reductions: three passes).
Task staged(Board& board, Call call);

/// Any size; every rank can read and write the memory of every other (threads). One copy per byte.
Task direct(Board& board, Call call);

/// Any size; processes that reach into each other's memory. One copy per byte, by the kernel (allreduce: the result,
/// which all want, goes over the board). REQUIRES goes_across(call.kind), more bytes than fit a slot, two ranks or more.
Task across(Board& board, Reach& reach, Call call);

}  // namespace chasqui::run
