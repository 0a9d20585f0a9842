// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "chasqui/base/error.hpp"
#include "run/board/collectives.hpp"
#include "run/board/copy.hpp"
#include "run/board/exposed.hpp"
#include "run/board/fold.hpp"
#include "run/call/aligned_buffer.hpp"
#include "run/call/exchanged.hpp"

namespace chasqui::run {
namespace {

/// Bytes from which a scan asks for contributions while it folds others (256 KiB: 254 to 224 us, 1 MiB: 1108 to 1042).
constexpr std::size_t kLongScan = 64 * 1024;

/// alltoall: this rank's block of another.
void take_block(const Call& call, const Exposed& there, int me, int other) {
  const Gotten got = gotten_from(call, me, other);
  const bool uneven = there.first != nullptr;
  const std::size_t begin =
      uneven ? static_cast<std::size_t>(there.first[me]) * call.element : static_cast<std::size_t>(me) * call.bytes();
  if (uneven) check_length(call, other, static_cast<std::uint64_t>(there.counts[me]) * call.element, me, got.bytes);
  copy_block(static_cast<std::byte*>(call.out) + got.at, there.in + begin, got.bytes);
}

/// reduce_scatter: this rank's block of all.
void fold_block(Board& board, const Call& call, const std::vector<Exposed>& all) {
  const std::size_t begin = block_begin(call, call.in_blocks, board.rank());
  const std::size_t bytes = block_bytes(call, call.in_blocks, board.rank());
  Using others(board);
  others.open();
  fold_in_order(
      call, board.ranks(), bytes / call.element, call.out,
      [&](int r) { return all[static_cast<std::size_t>(r)].in + begin; }, true);
}

/// reduce and allreduce: each rank folds its share of all inputs into the output (the root's, or its own).
Task fold_shares(Board& board, const Call& call, const std::vector<Exposed>& all) {
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t element = call.element;
  const auto count = static_cast<std::size_t>(call.count);
  const bool everywhere = call.kind == Kind::allreduce;
  std::byte* out = everywhere ? all[static_cast<std::size_t>(me)].out : all[static_cast<std::size_t>(call.root)].out;
  const std::size_t low = share_begin(count, ranks, me);
  const std::size_t high = share_begin(count, ranks, me + 1);
  Using others(board);
  others.open();
  fold_in_order(call, ranks, high - low, out + low * element,
                [&](int r) { return all[static_cast<std::size_t>(r)].in + low * element; });
  if (!everywhere) co_return;
  const std::uint64_t round = board.stages().round();
  board.stages().post_result(round);
  for (int k = 1; k < ranks; ++k) {
    const int other = (me + k) % ranks;
    if (!board.stages().has_result(other, round)) {
      others.close();
      co_await until([&] { return board.stages().has_result(other, round); });
    }
    others.open();
    const std::size_t from = share_begin(count, ranks, other) * element;
    const std::size_t to = share_begin(count, ranks, other + 1) * element;
    copy_block(out + from, all[static_cast<std::size_t>(other)].out + from, to - from);
  }
}

/// An inclusive scan: each rank folds its own to what the one before it has, chunk by chunk as they come, where that one wants its
/// result. Nobody waits for more than its neighbours.
Task along_ranks(Board& board, const Call& call, const Exposed& mine) {
  const int me = board.rank();
  const auto count = static_cast<std::size_t>(call.count);
  const std::size_t chunk = board.crowded()
                                ? call.bytes()  // a rank that has no core comes once a chunk
                                : pipeline_chunk(call.bytes(), call.element, board.ranks(), ~std::size_t{0});
  const std::size_t step = std::max<std::size_t>(1, chunk / call.element);
  const std::uint64_t base = board.stages().round(), rounds = (count + step - 1) / step;
  Exposed before{};
  if (me > 0) {
    co_await until([&] { return board.published(me - 1); });
    before = read_exposed(board, call, me - 1);
  }
  Using others(board);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * step * call.element, now = std::min(step, count - i * step);
    if (me == 0) {
      copy_block(mine.out + at, mine.in + at, now * call.element);
    } else {
      if (!board.stages().has_posted(me - 1, base + i)) {
        others.close();
        co_await until([&] { return board.stages().has_posted(me - 1, base + i); });
      }
      others.open();
      call.op(before.out + at, mine.in + at, mine.out + at, now);
    }
    board.stages().post(base + i);
  }
  others.close();
  if (rounds != 0) board.stages().consume(base + rounds - 1);
  board.stages().advance(rounds);
  board.finish();
  if (me + 1 < board.ranks()) co_await until([&] { return board.finished(me + 1) >= board.current(); });
  board.buffers().cover();
}

/// Any other scan: the result waits aside until nobody reads the inputs any more (they may be the outputs).
Task fold_prefix(Board& board, const Call& call, const std::vector<Exposed>& all) {
  const int sources = call.exclusive ? board.rank() : board.rank() + 1;
  const AlignedBuffer result(call.bytes());
  if (sources > 0) {
    Using others(board);
    others.open();
    fold_in_order(
        call, sources, static_cast<std::size_t>(call.count), result.data(),
        [&](int r) { return all[static_cast<std::size_t>(r)].in; }, call.bytes() > kLongScan);
  }
  const std::uint64_t round = board.stages().round();
  board.stages().post_result(round);
  for (int other = 0; other < board.ranks(); ++other) {
    co_await until([&] { return board.stages().has_result(other, round); });
  }
  if (sources > 0 && call.bytes() != 0) std::memcpy(call.out, result.data(), call.bytes());
}

}  // namespace

Task direct(Board& board, Call call) {
  board.begin(signature_of(call), Method::direct);
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t bytes = call.bytes();
  // Everybody uses the root's memory, all at once, and nobody else's.
  const bool with_root = call.kind == Kind::broadcast || call.kind == Kind::scatter || call.kind == Kind::gather;
  const bool at_root = has_root(call.kind) && me == static_cast<int>(call.root);
  const Exposed mine = exposed_by(call, me);
  if (!with_root || at_root) {
    co_await until([&] { return board.may_publish(); });
    board.buffers().expose(board.current());
    board.publish(me, &mine, sizeof mine);
  }
  if (call.kind == Kind::scan && !call.exclusive && !call.op.in_order) {
    co_await along_ranks(board, call, mine);
    co_return;
  }
  if (with_root) {
    const int root = static_cast<int>(call.root);
    co_await until([&] { return board.published(root); });
    const Exposed there = read_exposed(board, call, root);
    const std::size_t own = static_cast<std::size_t>(me) * bytes;
    Using others(board);
    others.open();
    if (call.kind == Kind::broadcast) copy_block(mine.out, there.in, bytes);
    else if (call.kind == Kind::gather)
      copy_block(there.out + own, mine.in, bytes, bytes * static_cast<std::size_t>(ranks));
    else if (mine.out != nullptr) copy_block(mine.out, there.in + own, bytes);
  } else {
    std::vector<Exposed> all(static_cast<std::size_t>(ranks));
    int in_vain = 0;
    board.looks().all.wait();
    for (int r = 0; r < ranks; ++r) board.fetch(r, Place::first);
    Using others(board);
    for (int k = 0; k < ranks; ++k) {
      const int other = (me + k) % ranks;
      if (!board.published(other)) {
        ++in_vain;
        others.close();
        co_await until([&] { return board.published(other) || (++in_vain, false); });
      }
      all[static_cast<std::size_t>(other)] = read_exposed(board, call, other);
      if (call.kind == Kind::allgather) {
        others.open();
        copy_block(mine.out + static_cast<std::size_t>(other) * bytes, all[static_cast<std::size_t>(other)].in, bytes,
                   bytes * static_cast<std::size_t>(ranks));
      }
      if (call.kind == Kind::alltoall) {
        others.open();
        take_block(call, all[static_cast<std::size_t>(other)], me, other);
      }
    }
    others.close();
    board.looks().all.learn(in_vain);
    board.everybody_began();
    if (call.kind == Kind::reduce || call.kind == Kind::allreduce) co_await fold_shares(board, call, all);
    if (call.kind == Kind::reduce_scatter) fold_block(board, call, all);
    if (call.kind == Kind::scan) co_await fold_prefix(board, call, all);
  }
  board.stages().consume(board.stages().round());
  board.stages().advance(1);
  board.finish();
  // Nobody may leave while its buffer is in use (broadcast, scatter, gather: the root's only).
  if (!with_root || at_root) {
    co_await until([&] { return board.all_finished(); });
    board.buffers().cover();
    // In a gather only the root tells its size: whoever published something took the way of short blocks.
    for (int r = 0; call.kind == Kind::gather && r < ranks; ++r) board.published(r);
  }
}

}  // namespace chasqui::run
