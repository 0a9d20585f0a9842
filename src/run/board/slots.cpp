// SPDX-License-Identifier: MIT
// Contributions of more than a line.
#include "run/board/slots.hpp"

#include "run/board/fold.hpp"

namespace chasqui::run {

void SlotCall::fetch_wide(int slot) const {
  const std::size_t before = slot_ != bytes_ ? static_cast<std::size_t>(board_.rank()) * bytes_ : 0;
  fetch_lines(board_.wide(slot) + before, bytes_);
}

/// Not what a root has beside its line: whoever asks for it too early takes it from the root, line by line, and all wait.
void SlotCall::fetch_more(bool apart) const {
  for (int slot = first_; slot < last_; ++slot) {
    if (slot_ <= kSlotPayload) board_.fetch(slot, Place::second);
    else if (last_ - first_ > 1 && (!apart || chains_)) fetch_wide(slot);
  }
}

/// A scan that hands on its result. Calls back to back form a pipeline: whoever finds that the rank before has its result needs
/// only that. From the left in rank order either way, so the result is the same to the bit.
void SlotCall::fold_chain() const {
  const int me = board_.rank();
  const auto count = static_cast<std::size_t>(call_.count);
  const bool read = me > 0 && me + 1 < board_.ranks();  // does the next rank look for it?
  if (bytes_ > kLinePayload) {
    if (prefix_) {
      const std::byte* before = board_.wide(me - 1) + result_offset();
      fetch_lines(before, bytes_);
      alignas(kLargestAlignment) std::byte own[kSlotPayload];
      if (bytes_ <= kSlotPayload) board_.read(me, own, bytes_);
      call_.op(before, bytes_ <= kSlotPayload ? own : board_.wide(me), call_.out, count);
    } else {
      fold_more();
    }
    if (!read) return;
    std::memcpy(board_.wide(me) + result_offset(), call_.out, bytes_);
    board_.uses_wide(result_offset() + bytes_);
    return board_.announce(Place::result);
  }
  if (prefix_) {
    alignas(kLargestAlignment) std::byte both[2 * kLine];
    std::memcpy(both, board_.payload(me - 1, Place::result), bytes_);
    std::memcpy(both + kLine, board_.payload(me, Place::first), bytes_);
    fold_values(call_, both, kLine, 2, call_.out, count);
  } else {
    fold_values(call_, board_.payload(0, Place::first), board_.stride(), last_, call_.out, count);
  }
  if (read) board_.publish_line(me, Place::result, call_.out, bytes_);
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

void SlotCall::fold_more() const {
  const auto count = static_cast<std::size_t>(call_.count);
  if (bytes_ > kSlotPayload) {
    return fold_in_order(call_, last_, count, call_.out,
                         [&](int r) { return static_cast<const std::byte*>(board_.wide(r)); });
  }
  if (call_.op.in_order && call_.op.fold_many != nullptr) {
    thread_local AlignedBuffer room;
    std::byte* const all = room.grown_to(static_cast<std::size_t>(last_) * 2 * kLine);
    for (int slot = 0; slot < last_; ++slot)
      board_.read(slot, all + static_cast<std::size_t>(slot) * 2 * kLine, bytes_);
    return fold_in_order(call_, last_, count, call_.out, [&](int r) {
      return static_cast<const std::byte*>(all + static_cast<std::size_t>(r) * 2 * kLine);
    });
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
