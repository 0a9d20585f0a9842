// SPDX-License-Identifier: MIT
// Collectives inside one node, on a board; one for each method, which its caller has decided on. Short ones (SlotCall):
// everybody who has something publishes one slot, everybody who needs it reads it; one line that all read beats every
// tree of point-to-point messages there. Where there are many lines to read, ranks fold some lines each for their groups
// (GroupedFold), or a share each for all (SharedFold). Long ones: staged (copied through the board, in rounds), direct
// (threads read each other's buffers) or cross_memory (processes read and write each other's memory).
// All fold in rank order, so operators need not commute; where they do, the root of a long reduction adds its own at the end.
#pragma once

#include "chasqui/run/call.hpp"
#include "run/board/board.hpp"
#include "run/board/process_memory.hpp"
#include "run/wait/awaited.hpp"
#include "run/wait/task.hpp"

namespace chasqui::run {

/// Bytes of what a slot holds: all blocks where every rank reads one of its own.
inline std::size_t slot_bytes(const Board& board, const Call& call) {
  if (call.kind == Kind::barrier) return 0;
  const bool blocks = call.kind == Kind::scatter || call.exchanges();
  return blocks ? call.bytes() * static_cast<std::size_t>(board.ranks()) : call.bytes();
}

/// Broadcast level by level: in each group of a level the first rank, or the root, publishes for the others there, and all these read
/// the root. Fewer read a line, and most of them one that was written near them.
class Relay {
 public:
  /// Begins the board's next collective. REQUIRES contiguous data that a slot holds, and levels for readers.
  Relay(Board& board, const Call& call);

  /// As SlotCall::poll().
  bool poll();

 private:
  Board& board_;
  const Call& call_;
  bool publishes_;  ///< what it has, or will have read, for its group or for all
  int from_;        ///< whose slot it reads; its own: none
  int looks_ = 0;   ///< in vain
  bool here_;       ///< the data
};

/// All-reduce or barrier in two steps, or a reduction of more than a line. Contributions are cut into lines, each with its
/// own number, so that a reader waits for nothing else; in each group of ranks, members fold some of the lines of their group and publish
/// that; everybody, or the root, reads the results of all groups.
class GroupedFold {
 public:
  /// Begins the board's next collective. REQUIRES contiguous data of at most most_lines(), and groups for so many.
  GroupedFold(Board& board, const Call& call);

  /// As SlotCall::poll().
  bool poll();

 private:
  /// What a group has folded. Counted up, not divided: a division takes as long as all else that is done about a line.
  struct Line {
    int group = 0, part = 0;
    int leader = 0;  ///< the member that folds this part: part mod groups_.smallest
  };
  void next(Line& line) const {
    if (++line.part == parts_) line = {line.group + 1};
    else if (++line.leader == groups_.smallest) line.leader = 0;
  }
  int folded_by(const Line& line) const { return groups_.rank_of(line.group, line.leader); }
  std::size_t count(int part) const { return part + 1 < parts_ ? each_ : last_; }
  void publish();
  void look_at_group();
  void ask_group(int part) const;
  void fold_group(int part);
  bool lead();
  void ask_results() const;
  bool take_results();

  Board& board_;
  const Call& call_;
  int parts_;             ///< lines
  std::size_t each_ = 0;  ///< elements of a line, but for the last
  std::size_t last_;      ///< of the last one
  Place contributions_;   ///< the place of the first line
  Place results_;
  const Groups& groups_;
  int part_;  ///< leading: the line being collected
  bool published_ = false;
  int looks_ = 0;  ///< in vain, since it last went on
  Line here_;      ///< the first result that has not come, in their order
  Awaited awaited_;
};

/// All-reduce, barrier or reduction that goes up the levels of a node (Ladder), each line by itself: in each group the lines of its ranks or of
/// the groups inside it are folded. What is at the top is read by all, or the root; or some read it and tell the total, level by level.
class LevelFold {
 public:
  /// Begins the board's next collective. REQUIRES contiguous data of at most most_lines(), and a climb for so many.
  LevelFold(Board& board, const Call& call);

  /// As SlotCall::poll().
  bool poll();

 private:
  std::size_t count(int part) const { return part + 1 < parts_ ? each_ : last_; }
  Place place(int time, int part) const;
  void publish();
  void ask(int rung) const;
  bool fold(int rung, int part, Place from, std::byte* to);
  bool climb();
  bool take_top();
  bool take_total();

  Board& board_;
  const Call& call_;
  int parts_;             ///< lines
  std::size_t each_ = 0;  ///< elements of a line, but for the last
  std::size_t last_;      ///< of the last one
  const Ladder& ladder_;
  bool reads_;  ///< wants the result
  bool published_ = false;
  int rung_ = 1;  ///< where it folds now; and which line, and how many of its sources have come
  int part_;
  int come_ = 0;
  int looks_ = 0;  ///< in vain, since it last went on
};

/// Reduce or all-reduce of contributions beside the lines: some ranks fold a share of everybody's each, in place; everybody,
/// or the root, reads the shares.
class SharedFold {
 public:
  /// Begins the board's next collective. REQUIRES contiguous data that fits beside the lines and not in them.
  SharedFold(Board& board, const Call& call) : SharedFold(board, call, false) {}

  /// As SlotCall::poll().
  bool poll();

 protected:
  SharedFold(Board& board, const Call& call, bool exposed);

 private:
  std::size_t begin(int share) const { return static_cast<std::size_t>(share) * share_; }
  std::size_t end(int share) const { return std::min(begin(share) + share_, total_); }
  std::byte* share_at(int share) const { return board_.wide(share) + (exposed_ ? 0 : begin(share)); }
  const std::byte* contribution(int rank) const;
  void publish();
  bool contributed(int rank) const;
  void fold_own();
  bool shares_here();
  void take();

  Board& board_;
  const Call& call_;
  std::size_t total_;
  std::size_t share_;  ///< bytes of a share; the last may have fewer
  int shares_;         ///< rank i folds share i
  bool exposed_;       ///< contributions are read where their owners have them
  bool reads_;         ///< wants the result
  bool published_ = false;
  bool folded_;
  int looks_ = 0;  ///< in vain, since it last went on
  Awaited awaited_;
};

/// All-reduce of threads: contributions stay where they are, and only the folded shares lie beside the lines, so nobody must
/// wait at the end until the others have read its own. REQUIRES shares that fit there, something to fold.
class ExposedFold : public SharedFold {
 public:
  ExposedFold(Board& board, const Call& call) : SharedFold(board, call, true) {}
};

/// Any size, through the stages of the board. Time per byte: two copies (allreduce: three passes).
Task staged(Board& board, Call call);

/// An all-to-all or reduce-scatter of any size: every rank takes its block out of the stages of all. `memory`: uneven blocks
/// that turn out to be long are read from the others' memory instead; none: never.
Task staged_exchange(Board& board, ProcessMemory* memory, Call call);

/// Any size; every rank can read and write the memory of every other (threads). One copy per byte.
Task direct(Board& board, Call call);

/// Any size; processes that read and write each other's memory. One copy per byte, by the kernel (allreduce: the result,
/// which all want, goes over the board). REQUIRES crosses_memory(call.kind), more bytes than fit a slot, two ranks or more.
Task cross_memory(Board& board, ProcessMemory& memory, Call call);

}  // namespace chasqui::run
