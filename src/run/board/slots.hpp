// SPDX-License-Identifier: MIT
// A collective whose contributions fit a slot, as a state machine that polls; no allocation. The path that programs take
// most often: all of it is in line, and its state in registers, because what is not in line works on a copy().
#pragma once

#include "chasqui/base/clock.hpp"
#include "run/board/collectives.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {

class SlotCall {
 public:
  /// Begins the board's next collective. REQUIRES that a slot holds it, contiguous data. `contributors`: of a reduction, an
  /// all-reduce or a barrier to which only so many ranks, the first ones, bring something; 0: all do.
  [[gnu::always_inline]] SlotCall(Board& board, const Call& call, int contributors = 0)
      : board_(board), call_(call), kind_(call.kind), bytes_(call.kind == Kind::barrier ? 0 : call.bytes()),
        slot_(slot_bytes(board, call)) {
    board.begin(signature_of(call), Method::slots);
    const int me = board.rank();
    const int root = static_cast<int>(call.root);
    if (kind_ == Kind::broadcast || kind_ == Kind::scatter) {
      published_ = me != root;
      first_ = root;
      last_ = published_ ? root + 1 : root;
      look_ = &board.looks().root;
    } else if (kind_ == Kind::scan) {
      last_ = call.exclusive ? me : me + 1;
      chains_ = me > 0 && board.ranks() > 2 && !call.exclusive && !call.op.in_order && bytes_ != 0 &&
                (bytes_ <= kLinePayload || result_offset() + bytes_ <= board.shape().wide);
      if (may_pipeline()) patience_ = board.looks().scans.patience(board.current(), me, clock_nanoseconds());
    } else if (kind_ == Kind::gather || kind_ == Kind::reduce) {
      if (me == root) last_ = board.ranks();
      look_ = &board.looks().given;
      may_wait_ = me == root && slot_ <= kSlotPayload && contributors == 0;
    } else {
      last_ = board.ranks();
    }
    if (contributors != 0) {
      published_ = me >= contributors;
      last_ = std::min(last_, contributors);
    }
    awaited_ = Awaited(first_, last_, me);
  }

  /// Advances; true when the result is in place and the collective finished. Throws Error when ranks disagree.
  [[gnu::always_inline]] bool poll() {
    if (!published_ && (!may_wait_ || board_.row_is_free())) {
      if (!board_.may_publish()) return false;
      publish();
    }
    if (!all_here()) return false;
    if (last_ - first_ == board_.ranks()) board_.everybody_began();
    else if (look_ == &board_.looks().root && first_ != last_) board_.began(first_);
    if (!published_) publish();  // everybody has begun: the row is free
    if (bytes_ != 0 && first_ != last_) take();
    board_.finish();
    return true;
  }

 protected:
  Kind kind() const { return kind_; }

 private:
  void publish() {
    const auto* in =
        static_cast<const std::byte*>(call_.in != nullptr && kind_ != Kind::broadcast ? call_.in : call_.out);
    const auto before = static_cast<std::size_t>(board_.rank()) * bytes_;
    if (call_.in == nullptr && (kind_ == Kind::allgather || kind_ == Kind::gather)) in += before;
    board_.publish(board_.rank(), in, slot_);
    published_ = true;
    if (patience_ > 0) copy().own_result();
    if (kind_ == Kind::scatter && call_.out != nullptr && bytes_ != 0) std::memmove(call_.out, in + before, bytes_);
  }

  /// All lines are asked for at once before the first is looked at. What is longer is only if it is folded, a line of all at a time, and not where
  /// ranks are apart: whoever asks for it too early takes it from its writer, line by line, and all wait. A scan that hands on
  /// its result asks in any case.
  void fetch(bool apart) const {
    if (slot_ <= kLinePayload && last_ - first_ <= 2) return;  // one, and this rank's own
    if (slot_ > kSlotPayload && last_ - first_ > 1 && combines(kind_) && (!apart || chains_)) copy().fetch_all_wide();
    for (int slot = first_; slot < last_; ++slot) {
      if (slot_ > kLinePayload && slot_ <= kSlotPayload) board_.fetch(slot, Place::second);
      board_.fetch(slot, Place::first);
    }
  }
  void fetch_all_wide() const;
  void fetch_wide(int slot) const;

  /// Of a scan that hands on its result: shall this rank look for that of the rank before alone? In a pipeline it comes soon, and whoever
  /// asked for all contributions meanwhile would be late, and make those late who write them.
  [[gnu::always_inline]] bool in_pipeline() {
    prefix_ = board_.published(board_.rank() - 1, Place::result);
    if (prefix_ || patience_ == 0) return prefix_;
    if (--patience_ == 0) board_.looks().scans.missed();
    return true;
  }

  [[gnu::always_inline]] bool all_here() {
    if (chains_ && board_.rank() > 1 && in_pipeline()) return prefix_;
    if (first_ == last_) return true;
    FirstLook& look = *look_;
    if (looks_ == 0) {
      look.wait();
      fetch(look.apart());
    }
    // What is longer is asked for when it comes, unless the first look finds it; a scan may need only what the rank before it hands on.
    bool late = false;
    if (slot_ > kSlotPayload) {
      if (looks_ > 0 && look.apart() && has_root(kind_) && last_ - first_ <= 64) {
        came_ = copy().more_came();
        looks_ += came_.missing;
        if (came_.missing == 0) look.learn(looks_);
        return came_.missing == 0;
      }
      late = (looks_ > 0 || look.apart()) && !chains_;
    }
    const bool found = awaited_.none([this, late](int slot) {
      if (!board_.arrived(slot, slot_)) return false;
      if (late) copy().fetch_wide(slot);
      return true;
    });
    if (found) look.learn(looks_);
    else if (looks_++ == 0 && bytes_ > kSlotPayload) copy().own_ahead();
    return found;
  }

  /// All lines are there, and something is in them. Folds are in rank order.
  [[gnu::always_inline]] void take() {
    auto* out = static_cast<std::byte*>(call_.out);
    if (slot_ > kSlotPayload && last_ - first_ == 1 && looks_ == 0 && !board_.looks().root.apart())
      copy().fetch_wide(first_);
    if (kind_ == Kind::alltoall || kind_ == Kind::reduce_scatter) return copy().take_blocks();
    if (combines(kind_)) {
      if (bytes_ > kLinePayload) return copy().fold_more();
      if (prefix_) copy().fold_prefix();
      else
        fold_values(call_, board_.payload(0, Place::first), board_.stride(), last_, out,
                    static_cast<std::size_t>(call_.count));
      if (hands_on()) board_.publish_line(board_.rank(), Place::result, out, bytes_);
      return;
    }
    if (kind_ == Kind::scatter) {
      return board_.read_part(first_, slot_, static_cast<std::size_t>(board_.rank()) * bytes_, out, bytes_);
    }
    for (int slot = first_; slot < last_; ++slot, out += bytes_) board_.read(slot, out, bytes_);
  }
  /// What a rank has found that looks for all who are missing, where ranks are apart.
  struct Came {
    std::uint64_t slots = 0;  ///< a bit each
    int folded = 0;           ///< contributions that are in the result of a reduction already, from rank 0 on
    int missing = 0;
  };
  Came more_came() const;
  void own_ahead() const;
  void own_result() const;
  SlotCall copy() const { return *this; }
  void take_blocks() const;
  void fold_more() const;
  void fold_contributions() const;
  void fold_prefix() const;
  bool hands_on() const { return chains_ && board_.rank() + 1 < board_.ranks(); }
  /// Of a scan of more than a line: where its result lies, after its contribution if that is there.
  std::size_t result_offset() const { return bytes_ > kSlotPayload ? (bytes_ + kLine - 1) / kLine * kLine : 0; }

  /// Bytes of a scan from which all contributions take longer to read than the rank before to hand on (docs/laboratory/reduce.md, "Scans").
  static constexpr std::size_t kPipelinedFrom = 512;
  bool may_pipeline() const { return chains_ && bytes_ >= kPipelinedFrom && board_.rank() > 1 && !board_.crowded(); }

  Board& board_;
  const Call& call_;
  Kind kind_;          ///< the call's, which what is written since might have changed as far as a compiler knows
  std::size_t bytes_;  ///< of one contribution
  std::size_t slot_;   ///< of what a slot holds
  int first_ = 0;      ///< slots first_ .. last_-1 are read
  int last_ = 0;
  Awaited awaited_;
  bool published_ = false;
  /// Of a root that collects nobody else reads the line: rather than ask how far all are, it writes it when all have come.
  bool may_wait_ = false;
  FirstLook* look_ = &board_.looks().all;  ///< a root that collects does not wait: nothing is gained by it
  int looks_ = 0;                          ///< in vain
  bool chains_ = false;                    ///< a scan that publishes its result for the next rank
  bool prefix_ = false;                    ///< what the rank before has folded is there
  int patience_ = 0;                       ///< so many looks for that alone are left
  Came came_;
};

/// A broadcast, in code that has nothing that only other kinds need. Who waits for the root finds little of it in the caches: every line
/// of code costs.
class SlotBroadcast final : public SlotCall {
 public:
  /// REQUIRES a broadcast.
  [[gnu::always_inline]] SlotBroadcast(Board& board, const Call& call) : SlotCall(board, known(call)) {}
  /// As SlotCall::poll().
  [[gnu::always_inline]] bool poll() {
    if (kind() != Kind::broadcast) __builtin_unreachable();
    return SlotCall::poll();
  }

 private:
  [[gnu::always_inline]] static const Call& known(const Call& call) {
    if (call.kind != Kind::broadcast) __builtin_unreachable();
    return call;
  }
};

}  // namespace chasqui::run
