// SPDX-License-Identifier: MIT
#include "chasqui/run/board_collectives.hpp"
#include "fold.hpp"
#include "fold_values.hpp"

namespace chasqui::run {

Way way_of_more(const Board& board, const Call& call, std::size_t bytes) {
  if (bytes <= kSlotPayload) return LedFold::suits(board, call) ? Way::led : Way::slots;
  const Way way = board.limits().way(call.kind, bytes);
  return way == Way::lent && !DealtFold::fits(board, call) ? Way::direct : way;
}

inline void SmallCall::publish() {
  const auto* in = static_cast<const std::byte*>(call_.in != nullptr ? call_.in : call_.out);
  const int me = board_.rank();
  if (call_.kind == Kind::broadcast) {
    in = static_cast<const std::byte*>(call_.out);
  } else if (call_.kind == Kind::scatter) {
    board_.publish(me, in, slot_);
    if (call_.out != nullptr && bytes_ != 0) {
      std::memmove(call_.out, in + static_cast<std::size_t>(me) * bytes_, bytes_);
    }
    published_ = true;
    return;
  } else if (call_.in == nullptr && (call_.kind == Kind::allgather || call_.kind == Kind::gather)) {
    in += static_cast<std::size_t>(me) * bytes_;
  }
  board_.publish(me, in, bytes_);
  published_ = true;
}

/// Asks for all lines at once before looking at the first.
inline void SmallCall::fetch() const {
  for (int slot = first_; slot < last_; ++slot) {
    if (slot_ > kSlotPayload) {
      const std::byte* data = board_.wide(slot) + (call_.kind == Kind::scatter ? static_cast<std::size_t>(board_.rank()) * bytes_ : 0);
      for (std::size_t at = 0; at < bytes_; at += kLine) __builtin_prefetch(data + at);
    } else if (slot_ > kLinePayload) {
      board_.fetch(slot, Place::second);
    }
    board_.fetch(slot, Place::first);
  }
}

/// All lines are there.
inline void SmallCall::take() {
  if (bytes_ == 0 || first_ == last_) return;
  auto* out = static_cast<std::byte*>(call_.out);
  if (combines(call_.kind)) return fold();
  if (call_.kind == Kind::scatter) return board_.read_part(first_, slot_, static_cast<std::size_t>(board_.rank()) * bytes_, out, bytes_);
  for (int slot = first_; slot < last_; ++slot, out += bytes_) board_.read(slot, out, bytes_);
}

/// In rank order.
inline void SmallCall::fold() {
  const auto count = static_cast<std::size_t>(call_.count);
  if (bytes_ <= kLinePayload) {
    return fold_values(call_, board_.payload(0, Place::first), board_.stride(), last_, call_.out, count);
  }
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

inline bool SmallCall::all_here() {
  const auto here = [this](int slot) { return board_.arrived(slot, slot_); };
  if (looked_ || first_ == last_) return missing_.none(here);
  looked_ = true;
  if (has_root(call_.kind) && last_ - first_ > 1) {  // a root collects: nothing gained by waiting
    fetch();
    return missing_.none(here);
  }
  FirstLook& look = has_root(call_.kind) ? board_.look_at_root() : board_.look_at_all();
  look.wait();
  fetch();
  const bool found = missing_.none(here);
  look.learn(found);
  return found;
}

inline bool SmallCall::advance() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
  }
  if (!all_here()) return false;
  take();
  if (last_ - first_ == board_.ranks()) board_.everybody_began();
  board_.finish();
  return true;
}

bool SmallCall::poll(int times) {
  for (; times > 0; --times) {
    if (advance()) return true;
  }
  return false;
}

}  // namespace chasqui::run
