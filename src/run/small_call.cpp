// SPDX-License-Identifier: MIT
#include "chasqui/base/error.hpp"
#include "chasqui/run/board_collectives.hpp"

namespace chasqui::run {

void throw_mismatch(const Call& call, int rank, int other, std::size_t theirs) {
  throw Error("{}: rank {} called with {} bytes, rank {} with {} (mod 2^20): all ranks must pass the same size",
              to_string(call.kind), rank, call.bytes(), other, theirs);
}

SmallCall::SmallCall(Board& board, const Call& call) : board_(board), call_(call), bytes_(call.bytes()) {
  board.begin();
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const bool at_root = me == root;
  switch (call.kind) {
    case Kind::broadcast:
      published_ = !at_root;
      first_ = root;
      last_ = at_root ? root : root + 1;
      break;
    case Kind::scatter:
      published_ = !at_root;
      first_ = me;
      last_ = at_root ? me : me + 1;
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
    for (int r = 0; r < board_.ranks(); ++r) {
      if (r != me) board_.publish(r, in + static_cast<std::size_t>(r) * bytes_, bytes_, bytes_);
    }
    if (call_.out != nullptr && bytes_ != 0) {
      std::memmove(call_.out, in + static_cast<std::size_t>(me) * bytes_, bytes_);
    }
    published_ = true;
    return;
  } else if (call_.in == nullptr && (call_.kind == Kind::allgather || call_.kind == Kind::gather)) {
    in += static_cast<std::size_t>(me) * bytes_;
  }
  board_.publish(me, in, bytes_, bytes_);
  published_ = true;
}

void SmallCall::take(int slot) {
  if (board_.published_total(slot) != Board::reduced_total(bytes_)) {
    throw_mismatch(call_, board_.rank(), slot, board_.published_total(slot));
  }
  if (bytes_ == 0) return;
  switch (call_.kind) {
    case Kind::gather:
    case Kind::allgather:
      board_.read(slot, static_cast<std::byte*>(call_.out) + static_cast<std::size_t>(slot) * bytes_, bytes_);
      break;
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
      if (slot == 0) {
        board_.read(slot, fold_, bytes_);
      } else {
        alignas(16) std::byte value[kSlotPayload];
        board_.read(slot, value, bytes_);
        call_.op(fold_, value, fold_, static_cast<std::size_t>(call_.count));
      }
      break;
    case Kind::barrier:
      break;
    default:
      board_.read(slot, call_.out, bytes_);
      break;
  }
}

bool SmallCall::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
  }
  if (!missing_.none([this](int slot) { return board_.arrived(slot, bytes_); })) return false;
  for (int slot = first_; slot < last_; ++slot) take(slot);
  conclude();
  return true;
}

void SmallCall::conclude() {
  const bool folds = call_.kind == Kind::reduce || call_.kind == Kind::allreduce || call_.kind == Kind::scan;
  if (folds && last_ > 0 && bytes_ != 0) std::memcpy(call_.out, fold_, bytes_);
  if (reads_all_) board_.everybody_began();
  board_.finish();
}

}  // namespace chasqui::run
