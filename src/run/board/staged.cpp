// SPDX-License-Identifier: MIT
#include <algorithm>

#include "run/board/collectives.hpp"
#include "run/board/copy.hpp"
#include "run/board/exposed.hpp"
#include "run/board/fold.hpp"
#include "run/wait/awaited.hpp"

namespace chasqui::run {
namespace {

/// A scan along the ranks; not where all operands of an element must be folded at once.
bool hands_on(const Call& call) { return call.kind == Kind::scan && !call.op.in_order; }

/// Bytes staged per round: rounds enough that copying in overlaps copying out, yet long enough to pay for their flags.
/// All-reduce waits twice a round for everybody, so its rounds are few; what it takes was measured (docs/laboratory/reduce.md, "Long
/// reductions").
std::size_t chunk_bytes(const Board& board, const Call& call, std::size_t total) {
  constexpr std::size_t kKiB = 1024;
  const std::size_t bytes = total * call.element;
  const std::size_t stage = board.shape().stage;
  if (hands_on(call)) {
    const std::size_t whole = std::max(stage / 4, call.element);  // a rank that has no core comes once a chunk
    return board.crowded() ? (whole + kLine - 1) / kLine * kLine
                           : pipeline_chunk(bytes, call.element, board.ranks(), stage);
  }
  const bool everywhere = call.kind == Kind::allreduce;
  std::size_t most = 64 * kKiB;
  if (call.kind == Kind::allgather) most = 32 * kKiB;
  if (call.kind == Kind::broadcast) most = 128 * kKiB;
  if (everywhere || (call.kind == Kind::reduce && bytes >= 1024 * kKiB)) most = 256 * kKiB;
  most = std::min(most, stage / 4);
  if (everywhere && bytes <= stage) most = stage / 2;
  const std::size_t rounds = everywhere ? 1 : 2;  // at least, where the stage is large enough
  std::size_t chunk = std::max(kLeastRound, call.element);
  while (chunk * 2 <= most && chunk * 2 * rounds <= bytes) chunk *= 2;  // few different divisions of the stage
  return (chunk + kLine - 1) / kLine * kLine;
}

std::size_t elements_per_round(const Board& board, const Call& call, std::size_t total) {
  return std::max<std::size_t>(1, chunk_bytes(board, call, total) / call.element);
}

/// Reductions this short are folded whole by everybody who wants the result: one phase instead of two.
bool folds_whole(const Call& call) {
  return (call.kind == Kind::allreduce && call.bytes() <= 512) || (call.kind == Kind::reduce && call.bytes() <= 2048);
}

struct Rounds {
  std::size_t total, step;
  std::uint64_t base, count;
  std::size_t begin(std::uint64_t i) const { return static_cast<std::size_t>(i) * step; }
  std::size_t size(std::uint64_t i) const { return std::min(step, total - begin(i)); }
};

Rounds rounds_of(const Board& board, const Call& call, std::size_t total) {
  const std::size_t step = elements_per_round(board, call, total);
  return {total, step, board.stages().round(), (total + step - 1) / step};
}

/// From a stage that all read at once: half of them begin in the middle.
void copy_apart(std::byte* to, const std::byte* from, std::size_t bytes, int rank) {
  const std::size_t middle = rank % 2 != 0 && bytes >= 32 * 1024 ? bytes / 2 / kLine * kLine : 0;
  std::memcpy(to + middle, from + middle, bytes - middle);
  if (middle != 0) std::memcpy(to, from, middle);
}

/// One source, read by all: broadcast and scatter.
Task from_root(Board& board, const Call& call) {
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const std::size_t element = call.element;
  const bool scatters = call.kind == Kind::scatter;
  const auto count = static_cast<std::size_t>(call.count);
  const Rounds rounds = rounds_of(board, call, scatters ? count * static_cast<std::size_t>(board.ranks()) : count);
  if (me == root) {
    const auto* in = static_cast<const std::byte*>(scatters ? call.in : call.out);
    co_await until([&] { return board.may_publish(); });
    if (rounds.count == 0) publish_size(board, call);
    for (std::uint64_t i = 0; i < rounds.count; ++i) {
      const std::uint64_t round = rounds.base + i;
      co_await until([&] { return board.stages().may_write(round); });
      copy_ahead(board.stages().of(me, round), in + rounds.begin(i) * element, rounds.size(i) * element);
      // The slot announces size and first round in one line.
      if (i == 0) publish_size(board, call);
      else board.stages().post(round);
    }
    if (scatters && call.out != nullptr && count != 0) {
      std::memmove(call.out, in + static_cast<std::size_t>(me) * call.bytes(), call.bytes());
    }
    if (rounds.count != 0) board.stages().consume(rounds.base + rounds.count - 1);
    co_return;
  }
  co_await until([&] { return board.published(root); });
  board.began(root);
  check_size(board, call, root);
  auto* out = static_cast<std::byte*>(call.out);
  const std::size_t first = scatters ? static_cast<std::size_t>(me) * count : 0;
  for (std::uint64_t i = 0; i < rounds.count; ++i) {
    const std::uint64_t round = rounds.base + i;
    const std::size_t low = std::max(first, rounds.begin(i));
    const std::size_t high = std::min(first + count, rounds.begin(i) + rounds.size(i));
    if (low < high) {
      if (i > 0) co_await until([&] { return board.stages().has_posted(root, round); });
      copy_apart(out + (low - first) * element, board.stages().of(root, round) + (low - rounds.begin(i)) * element,
                 (high - low) * element, me);
    }
    board.stages().consume(round);
  }
}

/// Elements of a round that one rank folds.
struct RoundShare {
  std::size_t begin = 0, end = 0;
};

/// Stages this rank's data of round i, but for what it keeps, and says so: the slot announces size and first round in one line.
Task stage_round(Board& board, const Call& call, const Rounds& rounds, std::uint64_t i, const std::byte* in,
                 RoundShare kept = {}) {
  const std::uint64_t round = rounds.base + i;
  const std::size_t element = call.element;
  co_await until([&] { return board.stages().may_write(round) && (i > 0 || board.may_publish()); });
  std::byte* const stage = board.stages().of(board.rank(), round);
  const auto copy = [&](std::size_t begin, std::size_t end) {
    std::byte* const to = stage + begin * element;
    const std::byte* const from = in + (rounds.begin(i) + begin) * element;
    if (call.kind == Kind::allreduce) copy_ahead(to, from, (end - begin) * element);
    else std::memcpy(to, from, (end - begin) * element);
  };
  copy(0, kept.begin);
  copy(kept.end, rounds.size(i));
  if (i == 0) publish_size(board, call);
  else board.stages().post(round);
}

/// Waits until ranks 0 .. last-1 have staged round i. The beginning of this share of each is asked for when it has come.
Task staged_by(Board& board, const Call& call, const Rounds& rounds, std::uint64_t i, int last, RoundShare share = {}) {
  constexpr std::size_t kAskedFor = 512;
  const std::uint64_t round = rounds.base + i;
  const auto here = [&](int r) {
    if (!(i > 0 ? board.stages().has_posted(r, round) : board.published(r))) return false;
    fetch_lines(board.stages().of(r, round) + share.begin * call.element,
                std::min(kAskedFor, (share.end - share.begin) * call.element));
    return true;
  };
  Awaited awaited(0, last, board.rank());
  co_await until([&] { return awaited.none(here); });
  for (int r = 0; i == 0 && r < last; ++r) check_size(board, call, r);
}

/// A scan: each rank folds its own to what the rank before it hands on, chunk by chunk. Chunks and calls form one pipeline:
/// a rank needs the one before it alone, and whoever has handed on its last chunk leaves.
Task along_ranks(Board& board, const Call& call) {
  const int me = board.rank();
  const bool last = me + 1 == board.ranks();
  const std::size_t element = call.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in != nullptr ? call.in : call.out);
  if (rounds.count == 0 || last) {
    co_await until([&] { return board.may_publish(); });
    publish_size(board, call);
  }
  for (std::uint64_t i = 0; i < rounds.count; ++i) {
    const std::uint64_t round = rounds.base + i;
    const std::size_t size = rounds.size(i), offset = rounds.begin(i) * element;
    const std::byte* before = nullptr;
    if (me > 0) {
      co_await until([&] { return i == 0 ? board.published(me - 1) : board.stages().has_posted(me - 1, round); });
      if (i == 0) check_size(board, call, me - 1);
      before = board.stages().of(me - 1, round);
    }
    std::byte* on = nullptr;  // what is handed on
    if (!last) {
      co_await until([&] { return board.stages().may_write(round) && (i > 0 || board.may_publish()); });
      on = board.stages().of(me, round);
      if (before != nullptr) call.op(before, in + offset, on, size);
      else copy_ahead(on, in + offset, size * element);
      if (i == 0) publish_size(board, call);
      else board.stages().post(round);
    }
    if (before == nullptr) {
      if (!call.exclusive && in != out) std::memcpy(out + offset, in + offset, size * element);
    } else if (call.exclusive || on != nullptr) {
      std::memcpy(out + offset, call.exclusive ? before : on, size * element);
    } else {
      call.op(before, in + offset, out + offset, size);
    }
    board.stages().consume(round);
  }
}

/// Everybody stages its own, somebody reads: gather, allgather, short reductions, scans that are folded at once.
Task from_all(Board& board, const Call& call) {
  const int me = board.rank();
  const std::size_t element = call.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  const bool collects = call.kind == Kind::gather || call.kind == Kind::allgather;
  const bool rooted = call.kind == Kind::gather || call.kind == Kind::reduce;
  const bool reads = !rooted || me == static_cast<int>(call.root);
  const int sources = !reads ? 0 : call.kind != Kind::scan ? board.ranks() : call.exclusive ? me : me + 1;
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in);
  if (in == nullptr) in = collects ? out + static_cast<std::size_t>(me) * call.bytes() : out;
  if (rounds.count == 0) {
    co_await until([&] { return board.may_publish(); });
    publish_size(board, call);
    co_await staged_by(board, call, rounds, 0, sources);
  }
  for (std::uint64_t ahead = 0; ahead <= rounds.count; ++ahead) {
    if (ahead < rounds.count) co_await stage_round(board, call, rounds, ahead, in);
    if (ahead == 0) continue;
    const std::uint64_t i = ahead - 1;
    const std::uint64_t round = rounds.base + i;
    const std::size_t offset = rounds.begin(i) * element;
    co_await staged_by(board, call, rounds, i, sources);
    if (collects) {
      for (int k = 0; k < sources; ++k) {
        const int other = (me + k) % board.ranks();
        std::byte* to = out + static_cast<std::size_t>(other) * call.bytes() + offset;
        const std::byte* from = other == me ? in + offset : board.stages().of(other, round);
        if (to != from)
          copy_out(to, from, rounds.size(i) * element, call.bytes() * static_cast<std::size_t>(board.ranks()));
      }
    } else if (sources > 0) {
      fold_in_order(call, sources, rounds.size(i), out + offset,
                    [&](int r) { return static_cast<const std::byte*>(board.stages().of(r, round)); });
    }
    board.stages().consume(round);
  }
}

/// Everybody stages what others fold of its own, folds its share of every round, and reads the others' shares: allreduce, some
/// reductions.
Task fold_for_all(Board& board, const Call& call) {
  const int me = board.rank();
  const int ranks = board.ranks();
  const std::size_t element = call.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  const bool reads = call.kind == Kind::allreduce || me == static_cast<int>(call.root);
  auto* out = static_cast<std::byte*>(call.out);
  const auto* in = static_cast<const std::byte*>(call.in != nullptr ? call.in : call.out);
  for (std::uint64_t i = 0; i <= rounds.count; ++i) {
    const auto own_share = [&](std::uint64_t of) {
      return RoundShare{share_begin(rounds.size(of), ranks, me), share_begin(rounds.size(of), ranks, me + 1)};
    };
    if (i < rounds.count) co_await stage_round(board, call, rounds, i, in, own_share(i));  // one round ahead
    if (i == 0) continue;
    const std::uint64_t round = rounds.base + i - 1;
    const std::size_t size = rounds.size(i - 1);
    const auto [low, high] = own_share(i - 1);
    co_await staged_by(board, call, rounds, i - 1, ranks, {low, high});
    const std::byte* const own = in + (rounds.begin(i - 1) + low) * element;
    fold_in_order(
        call, ranks, high - low, board.stages().of(me, round) + low * element,
        [&, low = low](int r) { return r == me ? own : board.stages().of(r, round) + low * element; }, true);
    board.stages().post_result(round);
    if (reads) {
      for (int k = 0; k < ranks; ++k) {
        const int other = (me + k) % ranks;
        if (!board.stages().has_result(other, round))
          co_await until([&] { return board.stages().has_result(other, round); });
        const std::size_t from = share_begin(size, ranks, other) * element;
        const std::size_t to = share_begin(size, ranks, other + 1) * element;
        copy_ahead(out + rounds.begin(i - 1) * element + from, board.stages().of(other, round) + from, to - from);
      }
    }
    board.stages().consume(round);
  }
}

/// A reduction: all but the root stage theirs, and fold a share each of every round. The root stages nothing: it folds its own
/// data to what the others have, in its place or, where it is neither the first nor the last, at the end.
/// REQUIRES such a place, or operands that may be reordered.
Task fold_for_root(Board& board, const Call& call) {
  const int me = board.rank();
  const int root = static_cast<int>(call.root);
  const int others = board.ranks() - 1;
  const auto other = [root](int index) { return index < root ? index : index + 1; };
  const std::size_t element = call.element;
  const Rounds rounds = rounds_of(board, call, static_cast<std::size_t>(call.count));
  const auto* in = static_cast<const std::byte*>(call.in != nullptr ? call.in : call.out);
  if (me == root) {
    co_await until([&] { return board.may_publish(); });
    publish_size(board, call);
    for (std::uint64_t i = 0; i < rounds.count; ++i) {
      const std::uint64_t round = rounds.base + i;
      for (int index = 0; index < others; ++index) {
        const int from = other(index);
        if (i == 0) co_await until([&] { return board.published(from); });
        if (i == 0) check_size(board, call, from);
        co_await until([&] { return board.stages().has_result(from, round); });
        const std::size_t low = share_begin(rounds.size(i), others, index);
        const std::size_t high = share_begin(rounds.size(i), others, index + 1);
        const std::size_t at = (rounds.begin(i) + low) * element;
        const std::byte* theirs = board.stages().of(from, round) + low * element;
        fold_in_order(
            call, 2, high - low, static_cast<std::byte*>(call.out) + at,
            [&](int which) { return (which == 0) == (root == 0) ? in + at : theirs; }, true);
      }
      board.stages().consume(round);
    }
    co_return;
  }
  const int index = me < root ? me : me - 1;
  for (std::uint64_t i = 0; i <= rounds.count; ++i) {
    if (i < rounds.count) co_await stage_round(board, call, rounds, i, in);  // one round ahead
    if (i == 0) continue;
    const std::uint64_t round = rounds.base + i - 1;
    Awaited awaited(0, others, index);
    co_await until([&] {
      return awaited.none(
          [&](int k) { return i == 1 ? board.published(other(k)) : board.stages().has_posted(other(k), round); });
    });
    for (int k = 0; i == 1 && k < others; ++k) check_size(board, call, other(k));
    const std::size_t low = share_begin(rounds.size(i - 1), others, index);
    const std::size_t high = share_begin(rounds.size(i - 1), others, index + 1);
    if (others > 1)
      fold_in_order(
          call, others, high - low, board.stages().of(me, round) + low * element,
          [&](int k) { return static_cast<const std::byte*>(board.stages().of(other(k), round)) + low * element; },
          true);
    board.stages().post_result(round);
    board.stages().consume(round);
  }
  if (board.published(root)) check_size(board, call, root);  // who is ahead of the root leaves it to the root
}

}  // namespace

Task staged(Board& board, Call call) {
  board.begin(signature_of(call), Method::staged);
  const bool scatters = call.kind == Kind::scatter;
  if (call.kind == Kind::reduce || call.kind == Kind::allreduce || call.kind == Kind::scan) {
    check_element(board, call);
  } else {  // nobody looks at elements: they may be cut
    call.count = static_cast<std::int64_t>(call.bytes());
    call.element = 1;
  }
  const auto count = static_cast<std::size_t>(call.count);
  const std::size_t total = scatters ? count * static_cast<std::size_t>(board.ranks()) : count;
  const std::size_t chunk = chunk_bytes(board, call, total);
  const auto ring = 2 * chunk * static_cast<std::size_t>(board.ranks());
  if (call.kind == Kind::allgather) board.stages().divide(chunk, board.shape().stage_room());
  else if (hands_on(call)) board.stages().divide(chunk, std::max(Stages::kUsualRing, ring));
  else board.stages().divide(chunk);
  const std::uint64_t rounds = rounds_of(board, call, total).count;
  switch (call.kind) {
    case Kind::broadcast:
    case Kind::scatter: co_await from_root(board, call); break;
    case Kind::scan:
      if (hands_on(call)) co_await along_ranks(board, call);
      else co_await from_all(board, call);
      break;
    case Kind::reduce:
    case Kind::allreduce:
      if (!folds_whole(call)) {
        const bool last = call.root + 1 == board.ranks();
        // In rank order the root's comes last, or there is only one other; what is rounded once at the end is folded at once.
        const bool keeps_order = board.ranks() == 2 || (last && call.op.fold_many == nullptr);
        const bool at_end = call.kind == Kind::reduce &&
                            (call.op.in_order ? keeps_order : call.op.commutative || call.root == 0 || last);
        if (at_end) co_await fold_for_root(board, call);
        else co_await fold_for_all(board, call);
        break;
      }
      [[fallthrough]];
    default: co_await from_all(board, call); break;
  }
  board.stages().advance(rounds);
  board.finish();
}

}  // namespace chasqui::run
