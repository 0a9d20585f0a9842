// SPDX-License-Identifier: MIT
// Contributions of more than a line.
#include "run/board/slots.hpp"

#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

/// Of what one rank has for all: a core has only so many lines under way at once, and the rest follows while these are read.
constexpr std::size_t kAskedForAtOnce = 1024;

}  // namespace

void SlotCall::fetch_wide(int slot) const {
  const std::size_t before = slot_ != bytes_ ? static_cast<std::size_t>(board_.rank()) * bytes_ : 0;
  fetch_lines(board_.wide(slot) + before, last_ - first_ == 1 ? std::min(bytes_, kAskedForAtOnce) : bytes_);
}

void SlotCall::fetch_all_wide() const {
  for (int slot = first_; slot < last_; ++slot) fetch_wide(slot);
}

/// While nothing has come there is time to take the lines that will be written next: what this rank has for the next call, and one block of the
/// result, which may be in no cache.
void SlotCall::own_ahead() const {
  board_.own_rest(bytes_);
  if (kind_ != Kind::gather && kind_ != Kind::allgather && kind_ != Kind::alltoall) own_lines(call_.out, bytes_);
}

/// Before the first look for what the rank before hands on: takes the lines in which the result will be handed on, which the next rank has read, and those of the
/// result itself.
void SlotCall::own_result() const {
  if (hands_on()) own_lines(board_.wide(board_.rank()) + result_offset(), bytes_);
  own_lines(call_.out, bytes_);
}

/// At a root, where ranks come one by one: what each has is asked for when it comes, and folded when all before it have come, with the same
/// bits as by fold_in_order(). So little is left to do when the last one comes.
SlotCall::Came SlotCall::more_came() const {
  Came now{came_.slots, came_.folded, 0};
  for (int slot = first_; slot < last_; ++slot) {
    const std::uint64_t bit = std::uint64_t{1} << (slot - first_);
    if ((now.slots & bit) != 0) continue;
    if (board_.arrived(slot, slot_)) {
      now.slots |= bit;
      fetch_wide(slot);
    } else {
      ++now.missing;
    }
  }
  if (call_.kind != Kind::reduce || call_.op.fold_many != nullptr) return now;
  const auto count = static_cast<std::size_t>(call_.count);
  for (; now.folded < last_ && (now.slots >> now.folded & 1) != 0; ++now.folded) {
    if (now.folded == 1) call_.op(board_.wide(0), board_.wide(1), call_.out, count);
    else if (now.folded > 1) call_.op(call_.out, board_.wide(now.folded), call_.out, count);
  }
  return now;
}

/// Of a scan that hands on its result: calls back to back form a pipeline, and whoever finds that the rank before has its result
/// needs only that. From the left in rank order either way, so the result is the same to the bit.
void SlotCall::fold_prefix() const {
  const int me = board_.rank();
  const auto count = static_cast<std::size_t>(call_.count);
  if (bytes_ > kLinePayload) {
    const std::byte* before = board_.wide(me - 1) + result_offset();
    fetch_lines(before, bytes_);
    alignas(kLargestAlignment) std::byte own[kSlotPayload];
    if (bytes_ <= kSlotPayload) board_.read(me, own, bytes_);
    return call_.op(before, bytes_ <= kSlotPayload ? own : board_.wide(me), call_.out, count);
  }
  alignas(kLargestAlignment) std::byte both[2 * kLine];
  copy_short(both, board_.payload(me - 1, Place::result), bytes_);
  copy_short(both + kLine, board_.payload(me, Place::first), bytes_);
  fold_values(call_, both, kLine, 2, call_.out, count);
}

void SlotCall::fold_more() const {
  if (prefix_) fold_prefix();
  else fold_contributions();
  if (may_pipeline()) board_.looks().scans.ended(board_.current(), patience_ > 0, clock_nanoseconds());
  if (!hands_on()) return;
  std::memcpy(board_.wide(board_.rank()) + result_offset(), call_.out, bytes_);
  board_.uses_wide(result_offset() + bytes_);
  board_.announce(Place::result);
}

/// This rank's block of every slot.
void SlotCall::take_blocks() const {
  const std::size_t before = static_cast<std::size_t>(board_.rank()) * bytes_;
  auto* out = static_cast<std::byte*>(call_.out);
  if (call_.kind == Kind::alltoall) {
    for (int slot = 0; slot < last_; ++slot, out += bytes_) board_.read_part(slot, slot_, before, out, bytes_);
    return;
  }
  const auto count = static_cast<std::size_t>(call_.count);
  if (slot_ <= kLinePayload) {
    return fold_values(call_, board_.payload(0, Place::first) + before, board_.stride(), last_, out, count);
  }
  if (slot_ > kSlotPayload) {
    return fold_in_order(call_, last_, count, out,
                         [&](int r) { return static_cast<const std::byte*>(board_.wide(r)) + before; });
  }
  alignas(kLargestAlignment) std::byte fold[kSlotPayload];
  alignas(kLargestAlignment) std::byte value[kSlotPayload];
  board_.read_part(0, slot_, before, fold, bytes_);
  for (int slot = 1; slot < last_; ++slot) {
    board_.read_part(slot, slot_, before, value, bytes_);
    call_.op(fold, value, fold, count);
  }
  std::memcpy(out, fold, bytes_);
}

void SlotCall::fold_contributions() const {
  const auto count = static_cast<std::size_t>(call_.count);
  if (bytes_ > kSlotPayload) {
    if (came_.folded == last_ && last_ > 1) return;
    return fold_in_order(call_, last_, count, call_.out,
                         [&](int r) { return static_cast<const std::byte*>(board_.wide(r)); });
  }
  if (call_.op.in_order && call_.op.fold_many != nullptr) {
    thread_local AlignedBuffer kept;
    Borrowed scratch(kept);
    std::byte* const all = scratch->grown_to(static_cast<std::size_t>(last_) * 2 * kLine);
    for (int slot = 0; slot < last_; ++slot)
      board_.read(slot, all + static_cast<std::size_t>(slot) * 2 * kLine, bytes_);
    return fold_in_order(call_, last_, count, call_.out, [&](int r) {
      return static_cast<const std::byte*>(all + static_cast<std::size_t>(r) * 2 * kLine);
    });
  }
  if (kLinePayload % call_.element == 0) {
    const std::size_t in_first = kLinePayload / call_.element;
    const auto fold = [&](Place place, std::size_t before, std::size_t elements) {
      fold_values(call_, board_.payload(0, place), board_.stride(place), last_,
                  static_cast<std::byte*>(call_.out) + before, elements);
    };
    fold(Place::first, 0, in_first);
    return fold(Place::second, kLinePayload, count - in_first);
  }
  alignas(kLargestAlignment) std::byte fold[kSlotPayload];
  alignas(kLargestAlignment) std::byte value[kSlotPayload];
  board_.read(0, fold, bytes_);
  for (int slot = 1; slot < last_; ++slot) {
    board_.read(slot, value, bytes_);
    call_.op(fold, value, fold, count);
  }
  std::memcpy(call_.out, fold, bytes_);
}

}  // namespace chasqui::run
