// SPDX-License-Identifier: MIT
// An all-to-all of pages that the ranks lend each other: every rank fills its pipes, then takes its blocks out of those of the others, and
// fills its own again as they run empty. It does both whenever it looks, so no two ranks wait for each other with full pipes.
#include <algorithm>
#include <vector>

#include "run/board/exposed.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/call/exchanged.hpp"

namespace chasqui::run {
namespace {

/// All that this rank has to lend and to take. Ready when it is done.
class Dealings final : public Waiting {
 public:
  Dealings(Board& board, LentPages& pages, const Call& call, bool told) : board_(board), pages_(pages), call_(call) {
    const int me = board.rank(), ranks = board.ranks();
    others_.reserve(static_cast<std::size_t>(ranks));
    for (int k = 1; k < ranks; ++k) {
      const int rank = (me + k) % ranks;
      const Gotten got = gotten_from(call, me, rank);
      const std::size_t given = block_bytes(call, call.in_blocks, rank);
      others_.push_back({rank, given == 0 ? nullptr : given_to(call, rank), given,
                         static_cast<std::byte*>(call.out) + got.at, got.bytes, told});
      open_ += (given != 0) + (got.bytes != 0 || !told);
    }
  }

  bool lend() {
    bool any = false;
    for (auto other = others_.rbegin(); other != others_.rend(); ++other) {
      if (other->to_give == 0) continue;
      const std::size_t lent = pages_.lend(other->rank, other->from, other->to_give);
      if (lent == 0) continue;
      any = true;
      other->from += lent;
      other->to_give -= lent;
      open_ -= other->to_give == 0;
    }
    return any;
  }

  bool ready() override {
    const bool lent = lend(), taken = take();
    moved_ += lent || taken;
    return open_ == 0;
  }

 private:
  struct Other {
    int rank = 0;
    const std::byte* from = nullptr;  ///< what it has not been lent yet
    std::size_t to_give = 0;
    std::byte* to = nullptr;  ///< where the rest of what it lends goes
    std::size_t to_take = 0;
    bool told = true;  ///< the size of its blocks
  };

  bool take() {
    bool any = false;
    for (Other& other : others_) {
      if (!other.told) {
        if (!board_.published(other.rank)) continue;
        check_size(board_, call_, other.rank);
        board_.began(other.rank);
        other.told = any = true;
        open_ -= other.to_take == 0;
      }
      if (other.to_take == 0) continue;
      const std::size_t taken = pages_.take(other.rank, other.to, other.to_take);
      if (taken == 0) continue;
      any = true;
      other.to += taken;
      other.to_take -= taken;
      open_ -= other.to_take == 0;
    }
    return any;
  }

  Board& board_;
  LentPages& pages_;
  const Call& call_;
  /// As this rank takes, its right neighbour first. It lends the other way round: first to those who take its block first.
  std::vector<Other> others_;
  int open_ = 0;  ///< blocks that are not lent, or not taken
};

}  // namespace

Task lend_and_take(Board& board, LentPages& pages, const Call& call, bool told) {
  if (!told) co_await until([&] { return board.may_publish(); });
  Dealings dealings(board, pages, call, told);
  dealings.lend();
  if (!told) publish_size(board, call);
  const Gotten own = gotten_from(call, board.rank(), board.rank());
  copy_bytes(static_cast<std::byte*>(call.out) + own.at, given_to(call, board.rank()), own.bytes);
  co_await dealings;
}

}  // namespace chasqui::run
