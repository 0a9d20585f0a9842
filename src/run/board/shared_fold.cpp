// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "run/board/collectives.hpp"
#include "run/board/exposed.hpp"
#include "run/board/fold.hpp"

namespace chasqui::run {
namespace {

/// Of the result, and of the next contribution, taken for writing while nothing has come: it may be in no cache.
constexpr std::size_t kOwned = 4096;

/// What is asked for in advance of a share: of a longer one the beginning, the rest follows while it is read.
constexpr std::size_t kFetched = 512;
void fetch_share(const std::byte* data, std::size_t bytes) { fetch_lines(data, std::min(bytes, kFetched)); }

}  // namespace

SharedFold::SharedFold(Board& board, const Call& call, bool exposed)
    : board_(board), call_(call), total_(call.bytes()),
      share_(share_elements(static_cast<std::size_t>(call.count), call.element, board.ranks()) * call.element),
      shares_(static_cast<int>((total_ + share_ - 1) / share_)), exposed_(exposed),
      reads_(call.kind == Kind::allreduce || board.rank() == static_cast<int>(call.root)),
      folded_(board.rank() >= shares_) {
  board.begin(signature_of(call), exposed ? Method::exposed_fold : Method::shared_fold);
}

void SharedFold::publish() {
  const void* in = call_.in != nullptr ? call_.in : call_.out;
  if (exposed_) {
    board_.buffers().expose(board_.current());
    board_.publish(board_.rank(), &in, sizeof in);
    board_.uses_wide(share_);
  } else {
    board_.publish(board_.rank(), in, total_);
  }
  published_ = true;
}

/// REQUIRES board_.published(rank)
const std::byte* SharedFold::contribution(int rank) const {
  if (!exposed_) return board_.wide(rank);
  const std::byte* in;
  std::memcpy(&in, board_.payload(rank, Place::first), sizeof in);
  return in;
}

bool SharedFold::contributed(int rank) const {
  if (!board_.published(rank)) return false;
  fetch_share(contribution(rank) + begin(board_.rank()), end(board_.rank()) - begin(board_.rank()));
  return true;
}

/// In rank order; in place, or beside the lines: nobody else reads this share of this rank's contribution. All
/// contributions are there.
void SharedFold::fold_own() {
  const int me = board_.rank();
  Using others(board_);
  if (exposed_) others.open();
  fold_in_order(
      call_, board_.ranks(), (end(me) - begin(me)) / call_.element, share_at(me),
      [&](int r) { return contribution(r) + begin(me); }, end(me) - begin(me) > kFetched);
  others.close();
  board_.announce(Place::result);
  folded_ = true;
}

bool SharedFold::shares_here() {
  const SlotLines::Cells results = board_.cells(Place::result);
  const auto fetch = [this](int share) { fetch_share(share_at(share), end(share) - begin(share)); };
  const bool apart = board_.looks().shares.apart(), first = looks_ == 0;
  if (first) {
    board_.looks().shares.wait();
    for (int share = 0; share < shares_; ++share) {
      ask_for_line(results.at(share, 0));
      if (!apart) fetch(share);
    }
  }
  const bool found = awaited_.none([&](int share) {
    if (!board_.published(*results.at(share, 0), share)) return false;
    if (!first || apart) fetch(share);
    return true;
  });
  if (found) board_.looks().shares.learn(looks_);
  else ++looks_;
  return found;
}

/// All shares are there.
void SharedFold::take() {
  auto* out = static_cast<std::byte*>(call_.out);
  for (int share = 0; share < shares_; ++share) {
    std::memcpy(out + begin(share), share_at(share), end(share) - begin(share));
  }
}

bool SharedFold::poll() {
  if (!published_) {
    if (!board_.may_publish()) return false;
    publish();
    // Of threads the announcements of all are asked for at once. What a process has is not: it is being written, and would have to be
    // taken back for that (docs/laboratory/reduce.md, "Asked for too early").
    for (int r = 0; exposed_ && !folded_ && r < board_.ranks(); ++r) board_.fetch(r, Place::first);
    awaited_ = Awaited(0, folded_ ? shares_ : board_.ranks(), board_.rank());
    board_.own_rest(kOwned);
  }
  if (!folded_) {
    if (!awaited_.none([this](int r) { return contributed(r); })) {
      if (looks_++ == 0 && reads_) own_lines(call_.out, std::min(total_, kOwned));
      return false;
    }
    board_.looks().given.learn(std::exchange(looks_, 0));
    fold_own();
    awaited_ = Awaited(0, shares_, board_.rank());
  }
  if (reads_) {
    if (!shares_here()) return false;
    take();
    if (exposed_) board_.buffers().cover();  // whoever reads contributions has said that it is done
    board_.everybody_began();
  }
  board_.finish();
  return true;
}

}  // namespace chasqui::run
