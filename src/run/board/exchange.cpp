// SPDX-License-Identifier: MIT
// All-to-all and reduce-scatter of processes through the stages of the board: every rank stages a piece of each of its blocks
// a round, and takes from every stage the piece that is its own. Pieces of different ranks share no line.
#include <algorithm>

#include "run/board/collectives.hpp"
#include "run/board/copy.hpp"
#include "run/board/exposed.hpp"
#include "run/board/fold.hpp"
#include "run/call/exchanged.hpp"
#include "run/wait/awaited.hpp"

namespace chasqui::run {
namespace {

/// Uneven blocks of so many bytes, if any rank has one, are read from their owner's memory: one copy instead of two.
constexpr std::size_t kLongUneven = 32 * 1024;

/// Bytes of a block that go in one round: few different divisions of the stage, four rounds of it in use at least.
std::size_t piece_bytes(const Board& board, std::size_t largest, std::size_t unit) {
  const std::size_t most = board.shape().stage / 4 / static_cast<std::size_t>(board.ranks());
  std::size_t piece = std::max<std::size_t>(kLine, most / kLine * kLine);
  while (piece >= 1024 && piece / 2 >= largest) piece /= 2;
  return std::max(unit, piece / unit * unit);
}

/// Pieces of so many bytes are taken when all ranks have staged theirs: a core that writes is slowed down by others that take what it has written.
/// Back to back that gains up to a third, long pieces gain with a common start too; where ranks are apart it may lose a tenth
/// (docs/laboratory/all-to-all.md, "How much is left").
constexpr std::size_t kAllFirst = 4096;

/// What each rank tells of uneven blocks before they move.
struct UnevenBlocks {
  Exposed places;         ///< bytes: of the largest block that it gives or gets
  std::uint64_t readers;  ///< ranks for which it has a block, a bit each
};
static_assert(sizeof(UnevenBlocks) <= kLinePayload);

/// Uneven blocks that lie beside the lines which tell of them, so that they have come when these have; only where all blocks of all ranks
/// are short, which a rank finds out when it has read all lines.
class ShortBlocks {
 public:
  ShortBlocks(const Board& board, const Call& call)
      : board_(board), call_(call), me_(board.rank()), ranks_(board.ranks()),
        room_(ranks_ <= 64 ? std::min(board.shape().wide, kShortWide) / static_cast<std::size_t>(ranks_) / kLine * kLine
                           : 0),
        head_(call.kind == Kind::alltoall ? sizeof(std::uint64_t) : 0) {}

  bool holds(std::size_t largest) const { return room_ != 0 && largest <= room_ - head_; }
  /// For whom there is something.
  std::uint64_t readers() const {
    std::uint64_t bits = 0;
    for (int r = 0; r < ranks_ && room_ != 0; ++r)
      bits |= std::uint64_t{block_bytes(call_, call_.in_blocks, r) != 0} << r;
    return bits;
  }
  /// Who has something for this rank; where nobody said so, all.
  std::uint64_t givers(const std::vector<UnevenBlocks>& all) const {
    if (room_ == 0) return kAllGive;
    std::uint64_t bits = 0;
    for (int r = 0; r < ranks_; ++r) bits |= (all[static_cast<std::size_t>(r)].readers >> me_ & 1) << r;
    return bits;
  }
  void give() const {
    for (int r = 0; r < ranks_; ++r) {
      const std::uint64_t bytes = block_bytes(call_, call_.in_blocks, r);
      if (r == me_ || bytes == 0) continue;
      std::byte* to = board_.wide(me_) + static_cast<std::size_t>(r) * room_;
      std::memcpy(to, &bytes, head_);
      std::memcpy(to + head_, given_to(call_, r), bytes);
    }
  }
  void fetch(int r) const {
    if (room_ != 0) ask_for_line(mine_of(r));
  }
  void take(const std::vector<UnevenBlocks>& all) const {
    if (call_.kind == Kind::reduce_scatter) {
      const std::size_t bytes = gotten_from(call_, me_, me_).bytes;
      return fold_in_order(call_, ranks_, bytes / call_.element, call_.out,
                           [&](int r) { return r == me_ ? given_to(call_, me_) : mine_of(r); });
    }
    for (int k = 0; k < ranks_; ++k) {
      const int r = (me_ + k) % ranks_;
      const Gotten got = gotten_from(call_, me_, r);
      std::byte* to = static_cast<std::byte*>(call_.out) + got.at;
      std::uint64_t given = 0;
      const bool any = (all[static_cast<std::size_t>(r)].readers >> me_ & 1) != 0;
      if (any && k != 0) std::memcpy(&given, mine_of(r), head_);
      if (k != 0) check_length(call_, r, given, me_, got.bytes);
      copy_bytes(to, k == 0 ? given_to(call_, me_) : mine_of(r) + head_, got.bytes);
    }
  }

 private:
  const std::byte* mine_of(int r) const { return board_.wide(r) + static_cast<std::size_t>(me_) * room_; }

  const Board& board_;
  const Call& call_;
  int me_, ranks_;
  std::size_t room_;  ///< whole lines for each block; 0: there are none
  std::size_t head_;  ///< bytes before a block that say how many it has
};

/// Afterwards `largest` is that of all ranks.
Task tell_uneven(Board& board, const Call& call, bool exposes, const ShortBlocks& blocks, std::size_t& largest,
                 std::vector<UnevenBlocks>& all) {
  UnevenBlocks mine{exposed_by(call, board.rank()), blocks.readers()};
  mine.places.bytes = largest;
  co_await until([&] { return board.may_publish(); });
  if (blocks.holds(largest)) blocks.give();
  if (exposes) board.buffers().expose(board.current());
  board.publish(board.rank(), &mine, sizeof mine);
  Awaited awaited(0, board.ranks(), board.rank());
  const auto here = [&](int r) {
    if (!board.published(r)) return false;
    blocks.fetch(r);
    return true;
  };
  co_await until([&] { return awaited.none(here); });
  board.everybody_began();
  for (int r = 0; r < board.ranks(); ++r) {
    board.read(r, &all[static_cast<std::size_t>(r)], sizeof(UnevenBlocks));
    largest = std::max<std::size_t>(largest, all[static_cast<std::size_t>(r)].places.bytes);
  }
}

class Exchange {
 public:
  Exchange(Board& board, const Call& call, std::size_t largest)
      : board_(board), call_(call), me_(board.rank()), ranks_(board.ranks()), largest_(largest),
        piece_(piece_bytes(board, largest, call.kind == Kind::alltoall ? 1 : call.element)),
        head_(call.kind == Kind::alltoall && call.uneven() ? sizeof(std::uint64_t) : 0),
        room_((head_ + piece_ + kLine - 1) / kLine * kLine) {
    // A round is staged while the one before it is taken: both must have room.
    const std::size_t all = 2 * room_ * static_cast<std::size_t>(ranks_);
    if (all <= board.shape().stage_room()) return;
    throw Error("{}: {} bytes for each of {} ranks, twice, do not fit the board's stage of {}", to_string(call.kind),
                room_, ranks_, board.shape().stage_room());
  }

  Task run() {
    board_.stages().divide(room_ * static_cast<std::size_t>(ranks_));
    base_ = board_.stages().round();
    const std::uint64_t rounds = (largest_ + piece_ - 1) / piece_;
    if (rounds == 0 && !call_.uneven()) {  // sizes are compared nevertheless
      co_await until([&] { return board_.may_publish(); });
      publish_size(board_, call_);
      co_await all_here(0);
    }
    for (std::uint64_t ahead = 0; ahead <= rounds; ++ahead) {
      if (ahead < rounds) co_await give(ahead);
      if (ahead == 0) continue;
      if (call_.kind == Kind::alltoall) co_await take(ahead - 1);
      else co_await fold(ahead - 1);
      board_.stages().consume(base_ + ahead - 1);
    }
    board_.stages().advance(rounds);
  }

 private:
  /// Of a block of so many bytes, what goes in round i.
  std::size_t part(std::size_t bytes, std::uint64_t i) const {
    const std::size_t begin = static_cast<std::size_t>(i) * piece_;
    return begin < bytes ? std::min(piece_, bytes - begin) : 0;
  }
  const std::byte* staged_for_me(int r, std::uint64_t i) const {
    return board_.stages().of(r, base_ + i) + static_cast<std::size_t>(me_) * room_ + head_;
  }
  /// The line announces size and first round in one, unless it was used to agree about sizes.
  bool in_line(std::uint64_t i) const { return i == 0 && !call_.uneven(); }
  bool here(int r, std::uint64_t i) const {
    return in_line(i) ? board_.published(r) : board_.stages().has_posted(r, base_ + i);
  }

  Task give(std::uint64_t i) {
    co_await until([&] { return board_.stages().may_write(base_ + i) && (!in_line(i) || board_.may_publish()); });
    for (int k = 1; k < ranks_; ++k) {
      const int other = (me_ + k) % ranks_;
      const std::uint64_t all = block_bytes(call_, call_.in_blocks, other);
      std::byte* to = board_.stages().of(me_, base_ + i) + static_cast<std::size_t>(other) * room_;
      if (i == 0 && head_ != 0) std::memcpy(to, &all, head_);
      copy_ahead(to + head_, given_to(call_, other) + static_cast<std::size_t>(i) * piece_, part(all, i));
    }
    if (in_line(i)) publish_size(board_, call_);
    else board_.stages().post(base_ + i);
  }

  /// Long pieces beginning with the left neighbour's, who staged the one for this rank first.
  Task take(std::uint64_t i) {
    const std::size_t offset = static_cast<std::size_t>(i) * piece_;
    const bool all_first = std::min(piece_, largest_) >= kAllFirst;
    if (all_first) co_await all_here(i);
    for (int k = 0; k < ranks_; ++k) {
      const int other = (all_first ? me_ - k + ranks_ : me_ + k) % ranks_;
      const Gotten got = gotten_from(call_, me_, other);
      std::byte* to = static_cast<std::byte*>(call_.out) + got.at + offset;
      if (k == 0) {
        copy_bytes(to, given_to(call_, me_) + offset, part(got.bytes, i));
        continue;
      }
      if (!all_first) {
        if (!here(other, i)) co_await until([&] { return here(other, i); });
        if (in_line(i)) check_size(board_, call_, other);
      }
      if (i == 0 && head_ != 0) {
        std::uint64_t given = 0;
        std::memcpy(&given, staged_for_me(other, i) - head_, head_);
        check_length(call_, other, given, me_, got.bytes);
      }
      copy_bytes(to, staged_for_me(other, i), part(got.bytes, i));
    }
  }

  Task all_here(std::uint64_t i) {
    Awaited awaited(0, ranks_, me_);
    co_await until([&] { return awaited.none([&](int r) { return here(r, i); }); });
    for (int r = 0; in_line(i) && r < ranks_; ++r) check_size(board_, call_, r);
  }

  /// Where operands may be reordered, beginning with the right neighbour's: else all ranks ask the same one at the same time.
  Task fold(std::uint64_t i) {
    co_await all_here(i);
    const std::size_t offset = static_cast<std::size_t>(i) * piece_;
    const std::size_t bytes = part(gotten_from(call_, me_, me_).bytes, i);
    const int first = call_.op.commutative && !call_.op.in_order ? me_ + 1 : 0;
    const auto operand = [&](int k) {
      const int r = (first + k) % ranks_;
      return r == me_ ? given_to(call_, me_) + offset : staged_for_me(r, i);
    };
    fold_in_order(call_, ranks_, bytes / call_.element, static_cast<std::byte*>(call_.out) + offset, operand, true);
  }

  Board& board_;
  const Call& call_;
  int me_, ranks_;
  std::size_t largest_;  ///< block of any rank
  std::size_t piece_;    ///< bytes of it in a round
  std::size_t head_;     ///< before uneven blocks, in the first round: bytes that say how many they have
  std::size_t room_;     ///< whole lines for both
  std::uint64_t base_ = 0;
};

}  // namespace

Task staged_exchange(Board& board, ProcessMemory* memory, Call call) {
  board.begin(signature_of(call), Method::staged);
  std::size_t largest = largest_block(call, board.ranks());
  bool taken = false, reads = false;
  Loan loan;
  if (call.uneven()) {
    const ShortBlocks blocks(board, call);
    std::vector<UnevenBlocks> all(static_cast<std::size_t>(board.ranks()));
    co_await tell_uneven(board, call, memory != nullptr, blocks, largest, all);
    taken = blocks.holds(largest);
    reads = !taken && memory != nullptr && largest >= kLongUneven;
    if (!reads) board.buffers().cover();
    if (taken) blocks.take(all);
    if (reads) {
      std::vector<Exposed> places;
      for (const UnevenBlocks& each : all) places.push_back(each.places);
      LentPages* const lent = lent_for(*memory, call.kind, largest, board.ranks());
      loan.begin(lent);
      co_await take_from_memory(board, *memory, call, places, blocks.givers(all), lent);
    }
  }
  if (!taken && !reads) {
    Exchange exchange(board, call, largest);
    co_await exchange.run();
  }
  board.finish();
  if (!reads) co_return;
  co_await until([&] { return board.all_finished(); });  // nobody may leave while others come for its blocks
  loan.all_have_taken();
  board.buffers().cover();
}

}  // namespace chasqui::run
