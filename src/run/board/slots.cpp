// SPDX-License-Identifier: MIT
// Contributions of more than a line.
#include "run/board/slots.hpp"

#include "run/board/fold.hpp"

namespace chasqui::run {

void SlotCall::fetch_more() const {
  const std::size_t before = call_.kind == Kind::scatter ? static_cast<std::size_t>(board_.rank()) * bytes_ : 0;
  for (int slot = first_; slot < last_; ++slot) {
    if (slot_ <= kSlotPayload) board_.fetch(slot, Place::second);
    else
      for (std::size_t at = 0; at < bytes_; at += kLine) __builtin_prefetch(board_.wide(slot) + before + at);
  }
}

void SlotCall::fold_more() const {
  const auto count = static_cast<std::size_t>(call_.count);
  if (bytes_ > kSlotPayload) {
    return fold_in_order(call_, last_, count, call_.out,
                         [&](int r) { return static_cast<const std::byte*>(board_.wide(r)); });
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
