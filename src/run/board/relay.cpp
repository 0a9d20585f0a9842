// SPDX-License-Identifier: MIT
#include "run/board/collectives.hpp"

namespace chasqui::run {

Relay::Relay(Board& board, const Call& call) : board_(board), call_(call) {
  board.begin(signature_of(call), Method::relay);
  const Groups& groups = board.groups().readers();
  const int root = static_cast<int>(call.root);
  const bool beside_root = groups.group_of(root) == groups.own;
  here_ = board.rank() == root;
  publishes_ = here_ || (!beside_root && groups.place == 0);
  from_ = publishes_ || beside_root ? root : groups.member(0);
}

bool Relay::poll() {
  const std::size_t bytes = call_.bytes();
  if (!here_) {
    FirstLook& look = board_.looks().root;
    if (looks_ == 0) look.wait();
    if (!board_.arrived(from_, bytes)) return ++looks_, false;
    look.learn(looks_);
    if (bytes > kSlotPayload) fetch_lines(board_.wide(from_), bytes);
    board_.read(from_, call_.out, bytes);
    here_ = true;
  }
  if (publishes_) {
    if (!board_.may_publish()) return false;
    board_.publish(board_.rank(), call_.out, bytes);
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
