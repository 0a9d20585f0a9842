// SPDX-License-Identifier: MIT
#include "run/board/collectives.hpp"

namespace chasqui::run {

Relay::Relay(Board& board, const Call& call) : board_(board), call_(call) {
  board.begin(signature_of(call), Method::relay);
  const Relayed::Part part = board.groups().readers().part(static_cast<int>(call.root));
  from_ = part.from;
  publishes_ = part.publishes;
  here_ = from_ == board.rank();
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
