// SPDX-License-Identifier: MIT
// Long collectives of processes that read and write each other's memory. The kernel locks a memory's page tables for every
// page it looks up, so ranks that come for the same pages at once wait for each other: each takes pages of its own, and
// what everybody wants goes over the board.
#include <algorithm>
#include <vector>

#include "run/board/copy.hpp"
#include "run/board/exposed.hpp"
#include "run/board/fold.hpp"
#include "run/board/process_memory.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/call/exchanged.hpp"
#include "run/wait/awaited.hpp"

namespace chasqui::run {
namespace {

constexpr std::size_t kScratch = 512 * 1024;  ///< what a rank folds at once: all ranks' pieces stay in its cache

/// Tells the others where this rank's data is: they may use it from now on, until it covers them.
Task announce(Board& board, const Exposed& mine) {
  co_await until([&] { return board.may_publish(); });
  board.buffers().expose(board.current());
  board.publish(board.rank(), &mine, sizeof mine);
}

Task read_root(Board& board, const Call& call, Exposed& places) {
  const int root = static_cast<int>(call.root);
  co_await until([&] { return board.published(root); });
  places = read_exposed(board, call, root);
}

/// The ranks at even distances from the root, whose blocks go over the board; short blocks only.
class Served {
 public:
  Served(const Board& board, const Call& call)
      : ranks_(board.ranks()), root_(static_cast<int>(call.root)),
        count_(call.bytes() < std::min(kServedBelow, board.shape().stage) ? (board.ranks() - 1) / 2 : 0) {}
  int count() const { return count_; }
  int rank(int index) const { return (root_ + 2 * (index + 1)) % ranks_; }
  /// Which one this rank is; -1: none of them.
  int index(int rank) const {
    const int distance = (rank - root_ + ranks_) % ranks_;
    return count_ > 0 && distance > 0 && distance % 2 == 0 ? distance / 2 - 1 : -1;
  }

 private:
  int ranks_, root_, count_;
};

/// Into blocks; room for `blocks` of them where the stage has it.
void divide_stage(Board& board, const Call& call, int blocks) {
  const std::size_t block = std::max(kLine, (call.bytes() + kLine - 1) / kLine * kLine);
  board.stages().divide(block, std::max(Stages::kUsualRing, block * static_cast<std::size_t>(blocks)));
}

/// Waits for its turn to be served. But once a rank that takes its block itself has it there is room among those: `room` is true then if the
/// root has not begun with this rank's block.
Task wait_for_turn(Board& board, const Call& call, std::uint64_t before, bool& room) {
  const int taker = (board.rank() + board.ranks() - 1) % board.ranks();
  co_await until([&] {
    if (board.stages().has_posted(static_cast<int>(call.root), before)) return true;
    return room = board.finished(taker) >= board.current();
  });
}

/// Every rank takes its block from the root, pages of its own, except those served.
Task scatter(Board& board, ProcessMemory& memory, const Call& call) {
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const std::size_t bytes = call.bytes();
  const Served served(board, call);
  const Exposed mine = exposed_by(call, me);
  const std::uint64_t base = board.stages().round();
  const auto round = [&](int index) { return base + static_cast<std::uint64_t>(index); };
  if (served.count() > 0) divide_stage(board, call, served.count());
  if (me == root) {
    co_await announce(board, mine);
    for (int i = 0; i < served.count(); ++i) {
      const int other = served.rank(i);
      if (!board.stages().has_consumed(other, round(i))) {
        co_await until([&] { return board.stages().may_write(round(i)); });
        copy_ahead(board.stages().of(me, round(i)), mine.in + static_cast<std::size_t>(other) * bytes, bytes);
      }
      board.stages().post(round(i));
    }
    if (mine.out != nullptr) copy_bytes(mine.out, mine.in + static_cast<std::size_t>(me) * bytes, bytes);
  } else {
    Exposed there{};
    co_await read_root(board, call, there);
    const int index = served.index(me);
    bool takes = index < 0;
    if (index > 0) {
      board.stages().consume(round(index - 1));
      co_await wait_for_turn(board, call, round(index - 1), takes);
    }
    if (takes) {
      if (index >= 0) board.stages().consume(round(index));
      Using others(board);
      others.open();
      memory.read(root, mine.out, there.in + static_cast<std::size_t>(me) * bytes, bytes);
    } else {
      co_await until([&] { return board.stages().has_posted(root, round(index)); });
      std::memcpy(mine.out, board.stages().of(root, round(index)), bytes);
    }
  }
  if (served.count() == 0) co_return;
  board.stages().consume(round(served.count() - 1));
  board.stages().advance(static_cast<std::uint64_t>(served.count()));
}

/// Every rank puts its block where the root wants it, pages of its own; the root fetches those of the served.
Task gather(Board& board, ProcessMemory& memory, const Call& call) {
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const std::size_t bytes = call.bytes();
  const Served served(board, call);
  const Exposed mine = exposed_by(call, me);
  const std::uint64_t round = board.stages().round();
  if (served.count() > 0) divide_stage(board, call, 1);
  co_await announce(board, mine);
  if (me == root) {
    copy_bytes(mine.out + static_cast<std::size_t>(me) * bytes, mine.in, bytes);
    Awaited awaited(0, board.ranks(), me);
    co_await until([&] { return awaited.none([&](int r) { return board.published(r); }); });
    for (int r = 0; r < board.ranks(); ++r) check_size(board, call, r);
    for (int i = 0; i < served.count(); ++i) {
      const int other = served.rank(i);
      co_await until([&] { return board.stages().has_posted(other, round); });
      copy_bytes(mine.out + static_cast<std::size_t>(other) * bytes, board.stages().of(other, round), bytes);
    }
  } else {
    if (served.index(me) >= 0) {
      co_await until([&] { return board.stages().may_write(round); });
      copy_ahead(board.stages().of(me, round), mine.in, bytes);
      board.stages().post(round);
    }
    Exposed there{};
    co_await read_root(board, call, there);
    if (served.index(me) < 0) {
      Using others(board);
      others.open();
      memory.write(root, there.out + static_cast<std::size_t>(me) * bytes, mine.in, bytes);
    }
  }
  if (served.count() == 0) co_return;
  board.stages().consume(round);
  board.stages().advance(1);
}

/// Everybody tells where its data is; `all` holds what the others told.
Task tell_all(Board& board, const Call& call, std::vector<Exposed>& all) {
  co_await announce(board, exposed_by(call, board.rank()));
  for (int k = 0; k < board.ranks(); ++k) {
    const int other = (board.rank() + k) % board.ranks();
    co_await until([&] { return board.published(other); });
    all[static_cast<std::size_t>(other)] = read_exposed(board, call, other);
  }
  board.everybody_began();
}

Task collect(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all) {
  const std::size_t bytes = call.bytes();
  auto* out = static_cast<std::byte*>(call.out);
  Using others(board);
  others.open();
  for (int k = 0; k < board.ranks(); ++k) {
    const int other = (board.rank() + k) % board.ranks();
    std::byte* to = out + static_cast<std::size_t>(other) * bytes;
    const std::byte* from = all[static_cast<std::size_t>(other)].in;
    if (k == 0) copy_bytes(to, from, bytes);
    else memory.read(other, to, from, bytes);
  }
  co_return;
}

/// Elements low .. high-1 of all ranks' data, folded in rank order into `to`; fetched beginning with the right neighbour,
/// so that no two ranks read from the same one at once. `done(at, count)` is told of each piece.
template <typename Done>
void fold_from_all(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all,
                   std::size_t low, std::size_t high, std::byte* to, Done done) {
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t element = call.element;
  const std::size_t step = std::max<std::size_t>(
      1, std::clamp<std::size_t>(kScratch / static_cast<std::size_t>(ranks), 8192, 65'536) / element);
  const std::size_t piece = (step * element + kLine - 1) / kLine * kLine;
  thread_local AlignedBuffer kept;
  Borrowed scratch(kept);
  scratch->grown_to(piece * static_cast<std::size_t>(ranks));
  Using others(board);
  others.open();
  const auto place = [&](int r) { return scratch->data() + static_cast<std::size_t>(r) * piece; };
  for (std::size_t at = low; at < high; at += step) {
    const std::size_t now = std::min(step, high - at);
    for (int k = 1; k < ranks; ++k) {
      const int other = (me + k) % ranks;
      memory.read(other, place(other), all[static_cast<std::size_t>(other)].in + at * element, now * element);
    }
    const std::byte* own = all[static_cast<std::size_t>(me)].in + at * element;
    fold_in_order(call, ranks, now, to != nullptr ? to + (at - low) * element : place(me),
                  [&](int r) { return r == me ? own : static_cast<const std::byte*>(place(r)); });
    done(at, now, place(me));
  }
}

/// reduce: each rank folds its share and puts it where the root wants it.
Task fold_to_root(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all) {
  const auto count = static_cast<std::size_t>(call.count);
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const std::size_t element = call.element;
  const std::size_t low = share_begin(count, board.ranks(), me);
  const std::size_t high = share_begin(count, board.ranks(), me + 1);
  std::byte* out = all[static_cast<std::size_t>(root)].out;
  fold_from_all(board, memory, call, all, low, high, me == root ? out + low * element : nullptr,
                [&](std::size_t at, std::size_t now, const std::byte* piece) {
                  if (me != root) memory.write(root, out + at * element, piece, now * element);
                });
  co_return;
}

/// allreduce: each rank folds its share of every round onto the board, where everybody reads it.
Task fold_to_all(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all) {
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t element = call.element;
  const auto count = static_cast<std::size_t>(call.count);
  auto* out = static_cast<std::byte*>(call.out);
  check_element(board, call);
  const std::size_t chunk = board.shape().stage / 4;
  const std::size_t step = std::max<std::size_t>(1, chunk / element) * static_cast<std::size_t>(ranks);
  board.stages().divide(chunk);
  const std::uint64_t base = board.stages().round();
  const std::uint64_t rounds = (count + step - 1) / step;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t round = base + i;
    const std::size_t begin = i * step;
    const std::size_t size = std::min(step, count - begin);
    const auto edge = [&](int r) { return begin + share_begin(size, ranks, r); };
    co_await until([&] { return board.stages().may_write(round); });
    fold_from_all(board, memory, call, all, edge(me), edge(me + 1), board.stages().of(me, round), [](auto&&...) {});
    board.stages().post_result(round);
    for (int k = 0; k < ranks; ++k) {
      const int other = (me + k) % ranks;
      co_await until([&] { return board.stages().has_result(other, round); });
      copy_block(out + edge(other) * element, board.stages().of(other, round),
                 (edge(other + 1) - edge(other)) * element, call.bytes());
    }
    board.stages().consume(round);
  }
  board.stages().advance(rounds);
}

/// Where in its data a rank has the block for this one; throws the Error for an uneven one that is not as long as `bytes`.
std::size_t block_for(ProcessMemory& memory, const Call& call, int other, const Exposed& there, int me,
                      std::size_t bytes) {
  if (there.first == nullptr) return static_cast<std::size_t>(me) * call.bytes();
  std::int64_t first = 0, count = 0;
  memory.read(other, &first, there.first + me, sizeof first);
  memory.read(other, &count, there.counts + me, sizeof count);
  check_length(call, other, static_cast<std::uint64_t>(count) * call.element, me, bytes);
  return static_cast<std::size_t>(first) * call.element;
}

}  // namespace

Task take_from_memory(Board& board, ProcessMemory& memory, const Call& call, const std::vector<Exposed>& all,
                      std::uint64_t givers, LentPages* lent) {
  const int me = board.rank();
  if (call.kind == Kind::reduce_scatter) {
    const std::size_t low = block_begin(call, call.in_blocks, me) / call.element;
    const std::size_t count = block_bytes(call, call.in_blocks, me) / call.element;
    fold_from_all(board, memory, call, all, low, low + count, static_cast<std::byte*>(call.out), [](auto&&...) {});
    co_return;
  }
  Using others(board);
  others.open();
  for (int k = 1; k < board.ranks(); ++k) {
    const int other = (me + k) % board.ranks();
    const Exposed& there = all[static_cast<std::size_t>(other)];
    const Gotten got = gotten_from(call, me, other);
    const bool gives = (givers >> std::min(other, 63) & 1) != 0;
    if (got.bytes == 0 && !gives) continue;
    const std::byte* from = there.in + block_for(memory, call, other, there, me, got.bytes);
    if (lent == nullptr) memory.read(other, static_cast<std::byte*>(call.out) + got.at, from, got.bytes);
  }
  others.close();
  if (lent != nullptr) co_return co_await lend_and_take(board, *lent, call, true);
  const Gotten own = gotten_from(call, me, me);
  copy_bytes(static_cast<std::byte*>(call.out) + own.at, given_to(call, me), own.bytes);
}

Task cross_memory(Board& board, ProcessMemory& memory, Call call) {
  board.begin(signature_of(call), Method::cross_memory);
  std::vector<Exposed> all(static_cast<std::size_t>(board.ranks()));
  LentPages* const lent = lent_for(memory, call.kind, call.bytes(), board.ranks());
  Loan loan;
  loan.begin(lent);
  switch (call.kind) {
    case Kind::gather: co_await gather(board, memory, call); break;
    case Kind::scatter: co_await scatter(board, memory, call); break;
    default:
      if (lent != nullptr) co_await lend_and_take(board, *lent, call, false);
      else co_await tell_all(board, call, all);
      break;
  }
  if (call.exchanges() && lent == nullptr) co_await take_from_memory(board, memory, call, all, kAllGive, nullptr);
  if (call.kind == Kind::allgather) co_await collect(board, memory, call, all);
  if (call.kind == Kind::reduce) co_await fold_to_root(board, memory, call, all);
  if (call.kind == Kind::allreduce) co_await fold_to_all(board, memory, call, all);
  board.finish();
  // Nobody may leave while others come for its data, or bring some.
  const bool at_root_only = call.kind == Kind::gather || call.kind == Kind::scatter;
  if (!at_root_only || board.rank() == static_cast<int>(call.root))
    co_await until([&] { return board.all_finished(); });
  loan.all_have_taken();
  board.buffers().cover();
}

}  // namespace chasqui::run
