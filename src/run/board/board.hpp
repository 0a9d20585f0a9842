// SPDX-License-Identifier: MIT
// A board is memory that all ranks of one node see: threads of a process, or processes with a shared window. Each rank
// has small slots (a cache line holds value and sequence number together, so one miss brings both), counters that only
// it writes, and a stage for long data. Everything is read by all: publishing costs one write however many read, and
// less when the writer owns the line beforehand.
//
// INVARIANTS
//  1. The collectives of a board are numbered 1, 2, 3, ... in the same order on every rank. A rank is in collective s from
//     begin() to finish(); it is in one at a time. What it publishes in s lies in row s mod kSlotRing.
//  2. Each word has one writer: the lines, the wide part, the stage, the counters and the remembered calls of a rank are
//     written by that rank alone. Exceptions: the notice of failures and withdrawals is written by whoever comes first
//     (compare-exchange); that a rank has ended, by itself or by whoever finds its process gone; and of such a rank others take back
//     `inside` (leave_for).
//  3. A line belongs to s exactly if its header is (s, sum over all calls up to s). Another sum under the same s is a rank
//     that has made other calls; a line of an older row has a smaller s. A newer one is never met: see 5.
//  4. A contribution is complete before its header says so: payload, wide part or first chunk of the stage. Of two lines
//     each has its own header; the first one's comes last, and would be enough, but a reader asks for both at once.
//  5. A rank writes row s + kSlotRing only when everybody has finished s. So a reader that is still in s finds row s
//     as s left it. Who has finished s may find a newer row there, and takes it for none of s (3).
//  6. Stages go in rounds, numbered through all collectives. Round t of a rank lies at chunk t mod depth. It is written only
//     when everybody has consumed round t - depth, and after a new division of the stage only when everybody has
//     consumed all rounds before it.
//     Whoever has finished s has consumed all rounds up to those of s.
//  7. The counters done, posted, result and consumed only grow. What a rank remembers of them (Reached, slowest_,
//     consumed_by_all_) may be old, hence too small: it waits longer than it must, and never too short.
//  8. The buffers of a rank are used by others only while it exposes them, and only between enter() and leave() of
//     those others. After withdraw() nobody uses them.
//
// MEMORY ORDER, by what is handed over; tests/run/weak tries all executions, and that each of these is needed
//  - A contribution, from its writer to its readers: the header is stored with release after the payload, and loaded with
//    acquire before it (4). The same holds for `posted` and a chunk of the stage, and for `result` and a folded share.
//  - A row, from its readers back to its writer: a reader stores `done` with release after its last look at the row, and the
//    writer loads it with acquire before it writes there (5). Whoever has begun s has finished s - 1, and its header of
//    s is stored after that: who has acquired the header of a rank may take s - 1 for finished by it (began).
//    The same holds for `consumed` and chunks of the stage (6).
//  - A buffer that its owner exposes: its address is a contribution, so what was written to it before is seen. It goes back
//    with `done` of those who used it, or with the line that says that they have folded their share of it.
//  - A bound that is remembered (7) was acquired by this rank once; everything that it does later comes after that.
//  - Buffers that are withdrawn (8): a user stores `inside`, then loads `withdrawn`; the owner writes `withdrawn`, then
//    loads `inside`. Each must not miss the other's write if the other misses its own, which release and acquire do not
//    promise: these four are sequentially consistent. leave() stores with release: what was read or written in the
//    buffers comes before it, and the owner's load, which sees it, before what the owner does with them next.
//  - A notice of failure: its text and range are written before `state` says so with release, and read after `state` was acquired. Its
//    range may grow afterwards. A range of refusals is emptied before it is written anew, `first` comes last, with release, and is
//    looked at before and after `last`: nobody takes one call's beginning with another one's end.
//  - The sequence number, the history and the divisions of the stage are each rank's own: no order is needed. Where ranks run (`core`),
//    taking lines for writing (ask_to_write_line) and asking for them (fetch) are hints without effect on any of this.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "chasqui/run/operator.hpp"
#include "run/board/buffer_use.hpp"
#include "run/board/copy.hpp"
#include "run/board/counters.hpp"
#include "run/board/first_looks.hpp"
#include "run/board/groups.hpp"
#include "run/board/notice.hpp"
#include "run/board/own_core.hpp"
#include "run/board/shape.hpp"
#include "run/board/slot_lines.hpp"
#include "run/board/stages.hpp"
#include "run/faults/call_history.hpp"

namespace chasqui::run {

/// One rank's view of a board. Written at every call: not in a pair of lines with anything of another rank, which one
/// thread may have made too.
class alignas(2 * kLine) Board {
 public:
  /// `memory` is line-aligned, of shape.bytes() bytes, zeroed at its beginning, and outlives the view. `cores`: that all
  /// the ranks together may run on.
  Board(void* memory, const BoardShape& shape, int rank, int cores);

  int rank() const { return rank_; }                  ///< this rank
  int ranks() const { return shape_.ranks; }          ///< ranks on the board
  const BoardShape& shape() const { return shape_; }  ///< as it was made
  bool crowded() const { return crowded_; }           ///< more ranks than cores

  // --- the order of collectives
  std::uint64_t current() const { return sequence_; }  ///< number of the present collective
  /// The next collective: the same call on every rank, or they will find out.
  void begin(const Signature& call) {
    ++sequence_;
    if (call != call_) change_to(Signature(call));  // a copy: the call itself stays in registers
    history_ = Signature::sum(history_, word_);
    header_ = (sequence_ << kSignBits) | (history_ >> (64 - kSignBits));
    lines_.go_to(sequence_);
  }
  /// By this method of the board.
  void begin(const Signature& call, Method method) {
    begin(call);
    methods_run_ |= 1u << static_cast<unsigned>(method);
  }
  /// This rank needs nothing more of the present collective.
  void finish() {
    own_->done.store(sequence_, std::memory_order_release);
    ask_to_write_line(lines_.own_first(sequence_ + 1));
    if (more_lines_ != 0) own_more();
  }
  /// As if so many collectives and rounds had been, before the first one: whoever needs this rank waits until it has done so.
  void skip_to(std::uint64_t calls) {
    sequence_ = calls;
    own_->done.store(calls, std::memory_order_release);
    stages_.skip_to(calls);
  }
  /// The next collective goes another way, or was refused: an unknown one.
  void pass_by(const Signature& call) {
    begin(call);
    finish();
  }
  /// A collective of all ranks goes another way, between two on this board: who waits for this rank instead finds out.
  void call_elsewhere() {
    calls_[rank_].elsewhere.store(elsewhere(rank_) + 1, std::memory_order_release);
    history_ = Signature::sum(history_, 1);
  }
  /// So many calls of this rank's went another way before collective `number`, its present one or its next, that another rank made on this board.
  std::uint64_t astray(std::uint64_t number) const;
  bool found_astray() const { return astray_ != 0; }  ///< and it was this rank that found out
  /// Everybody has begun the current collective, hence finished the previous one.
  void everybody_began() { slowest_ = sequence_ - 1; }
  /// One rank has begun it, hence finished the one before, and consumed all rounds before this collective's: where roots take turns,
  /// the next one need not ask everybody how far it is.
  void began(int rank) {
    done_.note(rank, sequence_ - 1);
    stages_.has_begun(rank);
  }

  // --- small slots
  bool row_is_free() const { return slowest_ + kSlotRing >= sequence_; }  ///< as far as this rank knows, without asking
  /// May the slots of the current collective be written: has everybody read what they held?
  bool may_publish() { return row_is_free() || refresh_slowest(sequence_ - kSlotRing) + kSlotRing >= sequence_; }
  /// Writes this rank's contribution: one line or two; or beside them, and the line says that it is there.
  void publish(int slot, const void* data, std::size_t bytes) {
    if (bytes > kLinePayload) bytes = publish_more(slot, data, bytes);
    publish_line(slot, Place::first, data, bytes);
  }
  /// Has the line been written for the present collective? Throws the Error for a rank that has made other calls.
  bool published(int slot, Place place = Place::first) const { return published(*line(slot, place), slot); }
  /// The same of one of its cells().
  bool published(const SlotLines::Line& line, int slot) const {
    const std::uint64_t header = line.header.load(std::memory_order_acquire);
    if (header == header_) return true;
    if (header >> kSignBits == sequence_) disagree(slot);  // from call 2^44 on only compare_calls() finds out
    return false;
  }
  /// This rank's; those of all go over the board, or pass it by.
  const CallHistory& calls() const { return calls_[rank_].noted; }
  /// Throws the Error for two ranks that called different things: names both calls.
  [[noreturn]] void disagree(int other) const;
  /// Throws such an Error if some rank has certainly called something else than this one: ranks that wait for each other may never
  /// read a line. `seen` is set before, to the call up to which ranks were compared.
  void compare_calls(std::uint64_t& seen) const;
  std::uint64_t complete() const;  ///< the last collective that some rank has finished
  /// The board's ranks as errors call them: their ranks in a communicator of several nodes.
  void name_ranks(std::vector<int> names) { names_ = std::move(names); }
  /// True when all `bytes` are there (a second line may lag).
  bool arrived(int slot, std::size_t bytes) const {
    if (bytes <= kLinePayload || bytes > kSlotPayload) return published(slot);
    const bool first = published(slot);  // both are asked for at once
    const bool second = published(slot, Place::second);
    return first && second;
  }
  /// Copies what `slot` published. REQUIRES arrived(slot, bytes).
  void read(int slot, void* data, std::size_t bytes) const {
    if (bytes > kLinePayload) return read_more(slot, data, bytes);
    copy_short(data, payload(slot, Place::first), bytes);
  }
  /// Copies `bytes` from `offset` on, of the `all` bytes that `slot` published.
  void read_part(int slot, std::size_t all, std::size_t offset, void* data, std::size_t bytes) const;
  /// Where contributions of more than kSlotPayload bytes lie: as many bytes as the shape says.
  std::byte* wide(int slot) const { return lines_.wide(slot); }
  /// One line alone. REQUIRES bytes <= kLinePayload.
  void publish_line(int slot, Place place, const void* data, std::size_t bytes) {
    write(*line(slot, place), data, bytes);
    if (place != Place::first) uses_lines(place, 1);
  }
  /// The lines of all slots from this place on.
  SlotLines::Cells cells(Place from) const { return lines_.cells(from); }
  /// This rank's data in so many lines from `from` on, of `each` bytes, but for the last. The first line comes last: it is the one that is
  /// looked for first.
  void publish_lines(Place from, const std::byte* data, int lines, std::size_t each, std::size_t last);
  /// So many bytes of this rank's are written there now; probably soon again.
  void uses_wide(std::size_t bytes) {
    owned_wide_ = bytes;
    more_lines_ |= kWideBit;
    more_lines_until_ = sequence_ + kSlotRing;
  }
  /// While this rank waits: takes for writing what it will probably write in the next collective and finish() leaves, of the first `most` bytes of
  /// its wide part.
  void own_rest(std::size_t most);
  /// publish_line() in two steps: the payload is written, then announced.
  std::byte* own_payload(Place place) { return line(rank_, place)->payload; }
  void announce(Place place) { publish_line(rank_, place, nullptr, 0); }  ///< what own_payload() holds may be read now
  /// REQUIRES published(slot, place).
  const std::byte* payload(int slot, Place place) const { return line(slot, place)->payload; }
  /// Bytes from a slot's lines to those of the next slot.
  std::size_t stride(Place place = Place::first) const { return lines_.stride(place); }
  void fetch(int slot, Place place) const { ask_for_line(line(slot, place)); }

  // --- groups of which members fold or publish for the others
  void arrange(const BoardGroups& groups);  ///< alike on all ranks
  const OwnGroups& groups() const { return groups_; }

  // --- for tests
  std::uint32_t methods_run() const { return methods_run_; }  ///< a bit for each that ran since forget_methods()
  void forget_methods() { methods_run_ = 0; }

  Stages& stages() { return stages_; }  ///< for long data, in rounds
  const Stages& stages() const { return stages_; }

  FirstLooks& looks() { return looks_; }

  /// Every rank has left the present collective.
  bool all_finished() { return slowest_ >= sequence_ || refresh_slowest(sequence_) >= sequence_; }

  BufferUse& buffers() { return buffers_; }  ///< of other ranks, where memory is shared
  Notice& notice() { return notice_; }       ///< of what went wrong
  const Notice& notice() const { return notice_; }
  /// Collectives first .. last failed here.
  void report(std::uint64_t first, std::uint64_t last, const std::string& why) {
    notice_.report(first, last, why, elsewhere(rank_) - astray_);
  }

  // --- cores
  /// This rank runs on a core of its own, if it can.
  void settle() {
    if (!crowded_ && shape_.ranks > 1) core_.settle();
  }

  // --- ranks that end
  /// Its last collective.
  std::uint64_t finished(int rank) const { return done(rank).load(std::memory_order_acquire); }
  /// Where it is said that a rank has ended; zeroed memory: nobody has.
  std::atomic<std::uint64_t>* ended(int rank) { return &counters_[rank].ended; }
  std::atomic<std::uint64_t>* any_ended() { return &words_->ended; }

 private:
  static constexpr int kSignBits = 20;  ///< of a header: what the calls so far come to; above them the sequence number

  struct alignas(2 * kLine) Calls {  ///< of one rank; read by others only when something is wrong
    CallHistory noted;
    std::atomic<std::uint64_t> elsewhere;  ///< so many calls went another way
  };
  friend struct BoardShape;

  SlotLines::Line* line(int slot, Place place) const { return lines_.line(slot, place); }
  void write(SlotLines::Line& to, const void* data, std::size_t bytes) {
    copy_short(to.payload, data, bytes);
    to.header.store(header_, std::memory_order_release);
  }
  void change_to(const Signature& call);
  /// These are written now; probably soon again.
  void uses_lines(Place from, int lines) {
    more_lines_ |= ((std::uint64_t{1} << static_cast<unsigned>(lines)) - 1) << static_cast<unsigned>(from);
    more_lines_until_ = sequence_ + kSlotRing;
  }
  std::size_t publish_more(int slot, const void* data, std::size_t bytes);
  void read_more(int slot, void* data, std::size_t bytes) const;
  static constexpr std::uint64_t kWideBit = std::uint64_t{1} << 63;  ///< in more_lines_, beside the places
  void own_more();
  std::atomic<std::uint64_t>& done(int rank) const { return counters_[rank].done; }
  std::uint64_t elsewhere(int rank) const { return calls_[rank].elsewhere.load(std::memory_order_acquire); }
  int name(int rank) const { return names_.empty() ? rank : names_[static_cast<std::size_t>(rank)]; }
  [[noreturn]] void throw_gone_elsewhere(int gone, int here) const;
  Signature named(Signature call) const;  ///< with its root as errors call it
  std::uint64_t refresh_slowest(std::uint64_t needed) { return slowest_ = std::max(slowest_, done_.refreshed(needed)); }

  BoardShape shape_;
  int rank_;
  bool crowded_;
  NoticeWords* words_;
  Counters* counters_;
  Counters* own_;  ///< of this rank
  Calls* calls_;
  SlotLines lines_;
  OwnGroups groups_;
  std::uint32_t methods_run_ = 0;
  std::size_t owned_wide_ = 0;          ///< bytes published wide lately
  std::uint64_t more_lines_ = 0;        ///< places besides the first that were published lately: a bit each
  std::uint64_t more_lines_until_ = 0;  ///< and how long that counts as lately
  FirstLooks looks_;
  std::uint64_t sequence_ = 0;
  Signature call_;             ///< the present collective
  std::uint64_t word_ = 0;     ///< of that call
  std::uint64_t history_ = 0;  ///< the sum over all calls so far
  std::uint64_t header_ = 0;   ///< of the lines of the present collective
  std::uint64_t slowest_ = 0;
  Reached done_;
  Stages stages_;
  Notice notice_;
  BufferUse buffers_;
  OwnCore core_;
  std::vector<int> names_;            ///< empty: their places on the board
  mutable std::uint64_t astray_ = 0;  ///< calls that went another way, as this rank has found
};

}  // namespace chasqui::run
