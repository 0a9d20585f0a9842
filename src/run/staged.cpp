// SPDX-License-Identifier: MIT
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/run/board_collectives.hpp"
#include "fold.hpp"

namespace chasqui::run {
namespace {

/// Elements staged per round: enough rounds that copying in overlaps copying out, at most a chunk of the board.
std::size_t elements_per_round(const Board& board, const Call& call, std::size_t total) {
  const std::size_t element = call.layout.element;
  const std::size_t most = std::max<std::size_t>(1, board.shape().chunk / element);
  const std::size_t wish = std::max<std::size_t>(total / 4, 8192 / element);
  return std::max<std::size_t>(1, std::min(most, wish));
}

struct Rounds {
  std::size_t total, step;
  std::uint64_t base, count;
  std::size_t begin(std::uint64_t i) const { return static_cast<std::size_t>(i) * step; }
  std::size_t size(std::uint64_t i) const { return std::min(step, total - begin(i)); }
};

Rounds rounds_of(const Board& board, const Call& call, std::size_t total) {
  const std::size_t step = elements_per_round(board, call, total);
  return {total, step, board.round(), (total + step - 1) / step};
}

void check_total(const Board& board, const Call& call, int other) {
  if (board.published_total(other) != Board::reduced_total(call.bytes())) {
    throw_mismatch(call, board.rank(), other, board.published_total(other));
  }
}

/// One source, read by all: broadcast and scatter.
Task from_root(Board& board, const Call& call) {
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const std::size_t element = call.layout.element;
  const bool scatters = call.kind == Kind::scatter;
  const auto count = static_cast<std::size_t>(call.count);
  const Rounds rounds = rounds_of(board, call, scatters ? count * static_cast<std::size_t>(board.ranks()) : count);
  if (me == root) {
    const auto* in = static_cast<const std::byte*>(scatters ? call.in : call.out);
    co_await until([&] { return board.may_publish(); });
    board.publish(me, nullptr, 0, call.bytes());
    for (std::uint64_t i = 0; i < rounds.count; ++i) {
      const std::uint64_t round = rounds.base + i;
      co_await until([&] { return board.may_stage(round); });
      std::memcpy(board.stage(me, round), in + rounds.begin(i) * element, rounds.size(i) * element);
      board.post(round);
    }
    if (scatters && call.out != nullptr && count != 0) {
      std::memmove(call.out, in + static_cast<std::size_t>(me) * call.bytes(), call.bytes());
    }
    if (rounds.count != 0) board.consume(rounds.base + rounds.count - 1);
    co_return;
  }
  co_await until([&] { return board.published(root); });
  check_total(board, call, root);
  auto* out = static_cast<std::byte*>(call.out);
  const std::size_t first = scatters ? static_cast<std::size_t>(me) * count : 0;
  for (std::uint64_t i = 0; i < rounds.count; ++i) {
    const std::uint64_t round = rounds.base + i;
    const std::size_t low = std::max(first, rounds.begin(i));
    const std::size_t high = std::min(first + count, rounds.begin(i) + rounds.size(i));
    if (low < high) {
      co_await until([&] { return board.has_posted(root, round); });
      std::memcpy(out + (low - first) * element, board.stage(root, round) + (low - rounds.begin(i)) * element,
                  (high - low) * element);
    }
    board.consume(round);
  }
}

/// Everybody stages its own, somebody reads: gather, allgather, scan.
Task from_all(Board& board, const Call& call) {
  const int me = board.rank();
  const std::size_t element = call.layout.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  const bool collects = call.kind != Kind::scan;
  const bool reads = call.kind != Kind::gather || me == static_cast<int>(call.root);
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in);
  if (in == nullptr) in = collects ? out + static_cast<std::size_t>(me) * call.bytes() : out;
  co_await until([&] { return board.may_publish(); });
  board.publish(me, nullptr, 0, call.bytes());
  if (reads && collects && call.in != nullptr && call.bytes() != 0) {
    std::memmove(out + static_cast<std::size_t>(me) * call.bytes(), in, call.bytes());
  }
  for (std::uint64_t i = 0; i < rounds.count; ++i) {
    const std::uint64_t round = rounds.base + i;
    const std::size_t offset = rounds.begin(i) * element;
    co_await until([&] { return board.may_stage(round); });
    std::memcpy(board.stage(me, round), in + offset, rounds.size(i) * element);
    board.post(round);
    const int sources = !reads ? 0 : collects ? board.ranks() : call.exclusive ? me : me + 1;
    for (int k = 0; k < sources; ++k) {
      const int other = collects ? (me + k) % board.ranks() : k;
      co_await until([&] { return board.has_posted(other, round); });
      if (i == 0) check_total(board, call, other);
      if (collects && other != me) {
        std::memcpy(out + static_cast<std::size_t>(other) * call.bytes() + offset, board.stage(other, round),
                    rounds.size(i) * element);
      }
    }
    if (!collects && sources > 0) {
      fold_in_order(call, sources, rounds.size(i), out + offset,
                    [&](int r) { return static_cast<const std::byte*>(board.stage(r, round)); });
    }
    board.consume(round);
  }
}

/// Everybody stages its own, folds its share of every round, and reads the others' shares: reduce, allreduce.
Task fold_shares(Board& board, const Call& call) {
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t element = call.layout.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  const bool reads = call.kind == Kind::allreduce || me == static_cast<int>(call.root);
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in != nullptr ? call.in : call.out);
  co_await until([&] { return board.may_publish(); });
  board.publish(me, nullptr, 0, call.bytes());
  for (std::uint64_t i = 0; i <= rounds.count; ++i) {
    if (i < rounds.count) {  // one round ahead
      const std::uint64_t ahead = rounds.base + i;
      co_await until([&] { return board.may_stage(ahead); });
      std::memcpy(board.stage(me, ahead), in + rounds.begin(i) * element, rounds.size(i) * element);
      board.post(ahead);
    }
    if (i == 0) continue;
    const std::uint64_t round = rounds.base + i - 1;
    const std::size_t size = rounds.size(i - 1);
    for (int k = 0; k < ranks; ++k) {
      co_await until([&] { return board.has_posted(k, round); });
      if (i == 1) check_total(board, call, k);
    }
    const std::size_t low = share_begin(size, ranks, me);
    const std::size_t high = share_begin(size, ranks, me + 1);
    fold_in_order(call, ranks, high - low, board.stage(me, round) + low * element,
                  [&](int r) { return static_cast<const std::byte*>(board.stage(r, round)) + low * element; });
    board.post_result(round);
    for (int k = 0; reads && k < ranks; ++k) {
      const int other = (me + k) % ranks;
      co_await until([&] { return board.has_result(other, round); });
      const std::size_t from = share_begin(size, ranks, other) * element;
      const std::size_t to = share_begin(size, ranks, other + 1) * element;
      std::memcpy(out + rounds.begin(i - 1) * element + from, board.stage(other, round) + from, to - from);
    }
    board.consume(round);
  }
}

}  // namespace

Task staged(Board& board, Call call) {
  board.begin();
  const bool scatters = call.kind == Kind::scatter;
  const auto count = static_cast<std::size_t>(call.count);
  if (call.layout.element > board.shape().chunk) {
    throw Error("{}: an element of {} bytes does not fit the board's chunk of {}", to_string(call.kind),
                call.layout.element, board.shape().chunk);
  }
  const std::uint64_t rounds =
      rounds_of(board, call, scatters ? count * static_cast<std::size_t>(board.ranks()) : count).count;
  switch (call.kind) {
    case Kind::broadcast:
    case Kind::scatter: co_await from_root(board, call); break;
    case Kind::reduce:
    case Kind::allreduce: co_await fold_shares(board, call); break;
    default: co_await from_all(board, call); break;
  }
  board.advance_rounds(rounds);
  board.finish();
}

}  // namespace chasqui::run
