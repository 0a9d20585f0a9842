// SPDX-License-Identifier: MIT
#include "chasqui/run/board_collectives.hpp"
#include "fold.hpp"
#include "fold_values.hpp"

namespace chasqui::run {

Way way_of(const Board& board, const Call& call) {
  if (call.kind == Kind::barrier) return LedFold::suits(board, call) ? Way::led : Way::slots;
  std::size_t bytes = call.bytes();
  if (call.kind == Kind::scatter) bytes *= static_cast<std::size_t>(board.ranks());
  if (bytes <= kSlotPayload) return LedFold::suits(board, call) ? Way::led : Way::slots;
  const Way way = board.limits().way(call.kind, bytes);
  return way == Way::lent && !DealtFold::fits(board, call) ? Way::direct : way;
}

SmallCall::SmallCall(Board& board, const Call& call)
    : board_(board), call_(call), bytes_(call.kind == Kind::barrier ? 0 : call.bytes()),
      slot_(call.kind == Kind::scatter ? bytes_ * static_cast<std::size_t>(board.ranks()) : bytes_) {
  board.begin(called(call));
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const bool at_root = me == root;
  switch (call.kind) {
    case Kind::broadcast:
    case Kind::scatter:
      published_ = !at_root;
      first_ = root;
      last_ = at_root ? root : root + 1;
      break;
    case Kind::reduce:
    case Kind::gather:
      last_ = at_root ? board.ranks() : 0;
      break;
    case Kind::scan:
      last_ = call.exclusive ? me : me + 1;
      break;
    default:
      last_ = board.ranks();
      break;
  }
  missing_ = Missing(first_, last_, me);
  reads_all_ = first_ == 0 && last_ == board.ranks();
}

void SmallCall::publish() {
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
void SmallCall::fetch() const {
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
void SmallCall::take() {
  if (bytes_ == 0) return;
  switch (call_.kind) {
    case Kind::gather:
    case Kind::allgather:
      for (int slot = first_; slot < last_; ++slot) {
        board_.read(slot, static_cast<std::byte*>(call_.out) + static_cast<std::size_t>(slot) * bytes_, bytes_);
      }
      break;
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
      if (last_ > 0) fold();
      break;
    case Kind::scatter:
      if (first_ < last_) {
        board_.read_part(first_, slot_, static_cast<std::size_t>(board_.rank()) * bytes_, call_.out, bytes_);
      }
      break;
    case Kind::barrier:
      break;
    default:
      if (first_ < last_) board_.read(first_, call_.out, bytes_);
      break;
  }
}

/// In rank order.
void SmallCall::fold() {
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

bool SmallCall::all_here() {
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

bool SmallCall::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
  }
  if (!all_here()) return false;
  take();
  if (reads_all_) board_.everybody_began();
  board_.finish();
  return true;
}

bool SmallCall::poll(int times) {
  for (; times > 0; --times) {
    if (poll()) return true;
  }
  return false;
}

}  // namespace chasqui::run
