// SPDX-License-Identifier: MIT
#include <algorithm>

#include "chasqui/run/board_collectives.hpp"
#include "fold.hpp"

namespace chasqui::run {
namespace {

/// Elements of a share: whole lines, one for each rank or more.
std::size_t share_count(const Board& board, const Call& call) {
  const auto ranks = static_cast<std::size_t>(board.ranks());
  const std::size_t a_line = std::max<std::size_t>(1, kLine / call.layout.element);
  const std::size_t least = (static_cast<std::size_t>(call.count) + ranks - 1) / ranks;
  return (least + a_line - 1) / a_line * a_line;
}

}  // namespace

DealtFold::DealtFold(Board& board, const Call& call)
    : board_(board), call_(call), total_(call.bytes()), share_(share_count(board, call)),
      shares_(static_cast<int>((static_cast<std::size_t>(call.count) + share_ - 1) / share_)),
      reads_(call.kind == Kind::allreduce || board.rank() == static_cast<int>(call.root)),
      folded_(board.rank() >= shares_) {
  board.begin();
}

/// Asks for everything that this rank's share is folded from.
void DealtFold::fetch() const {
  const std::size_t low = begin(board_.rank()), high = end(board_.rank());
  for (int r = 0; r < board_.ranks(); ++r) {
    board_.fetch(r, Place::first);
    for (std::size_t at = low; at < high; at += kLine) __builtin_prefetch(board_.wide(r) + at);
  }
}

/// In rank order, in place: nobody else reads this share of this rank's contribution. All contributions are there.
void DealtFold::fold_own() {
  for (int r = 0; r < board_.ranks(); ++r) {
    if (board_.published_total(r) != total_) throw_mismatch(call_, board_.rank(), r, board_.published_total(r));
  }
  const int me = board_.rank();
  fold_in_order(call_, board_.ranks(), (end(me) - begin(me)) / call_.layout.element, board_.wide(me) + begin(me),
                [&](int r) { return static_cast<const std::byte*>(board_.wide(r)) + begin(me); });
  board_.announce(Place::result, total_);
  folded_ = true;
}

bool DealtFold::shares_here() {
  const auto here = [this](int share) { return board_.published(share, Place::result); };
  if (looked_) return missing_.none(here);
  looked_ = true;
  board_.look_at_shares().wait();
  for (int share = 0; share < shares_; ++share) {
    board_.fetch(share, Place::result);
    for (std::size_t at = begin(share); at < end(share); at += kLine) __builtin_prefetch(board_.wide(share) + at);
  }
  const bool found = missing_.none(here);
  board_.look_at_shares().learn(found);
  return found;
}

/// All shares are there.
void DealtFold::take() {
  auto* out = static_cast<std::byte*>(call_.out);
  for (int share = 0; share < shares_; ++share) {
    if (board_.published_total(share, Place::result) != total_) {
      throw_mismatch(call_, board_.rank(), share, board_.published_total(share, Place::result));
    }
    std::memcpy(out + begin(share), board_.wide(share) + begin(share), end(share) - begin(share));
  }
}

bool DealtFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    board_.publish(board_.rank(), call_.in != nullptr ? call_.in : call_.out, total_, total_);
    published_ = true;
    if (!folded_) fetch();
    missing_ = Missing(0, folded_ ? shares_ : board_.ranks(), board_.rank());
  }
  if (!folded_) {
    if (!missing_.none([this](int r) { return board_.published(r); })) return false;
    fold_own();
    missing_ = Missing(0, shares_, board_.rank());
  }
  if (reads_) {
    if (!shares_here()) return false;
    take();
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

bool DealtFold::poll(int times) {
  for (; times > 0; --times) {
    if (poll()) return true;
  }
  return false;
}

}  // namespace chasqui::run
