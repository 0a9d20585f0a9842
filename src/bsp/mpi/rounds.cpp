// SPDX-License-Identifier: MIT
#include "bsp/mpi/rounds.hpp"

#include <algorithm>
#include <utility>

namespace chasqui::bsp::detail {

namespace {

/// One round: tells member `to` what this one knows so far, and hears as much of member `from`.
ArrivalRecord send_on(MpiPeers& peers, const GroupInfo& machine, std::int32_t member, std::int32_t to,
                      std::int32_t from, const Digest& digest, std::span<const std::uint32_t> counts,
                      const Waiting& why) {
  RecordHead head;
  head.record = Record::arrival;
  head.from = member;
  head.channel.group = machine.id;
  const std::int32_t rank = machine.members.at(to);
  Buffer& out = peers.mail().out(rank);
  const std::size_t before = out.size();
  const std::uint64_t sums = digest.sums.size();
  append_bytes(out, &digest.agreement, sizeof digest.agreement);
  append_bytes(out, &digest.board, sizeof digest.board);
  append_bytes(out, &sums, sizeof sums);
  append_bytes(out, digest.sums.data(), sums * sizeof(Digest::Pair));
  if (std::ranges::any_of(counts, [](std::uint32_t blocks) { return blocks > 0; }))
    append_bytes(out, counts.data(), counts.size_bytes());
  append_head(out, head, out.size() - before);
  peers.mail().flush(rank);
  return next_arrival(peers, machine.id, from, why);
}

}  // namespace

ArrivalRecord next_arrival(MpiPeers& peers, std::uint64_t group, std::int32_t from, const Waiting& why) {
  std::deque<ArrivalRecord>& queue = peers.inbox().arrivals(group, from);
  peers.wait_until(why, [&] { return !queue.empty(); });
  ArrivalRecord next = std::move(queue.front());
  queue.pop_front();
  return next;
}

/// In the round of distance h, one hands what it knows of those at distances from ih up to (i+1)h to the one at distance ih, i = 1, 2, ...
/// below the radix (the windows of the all-gather, backwards). With it travel the agreement and the costs of the superstep. After that round an entry j
/// has the contributions of distances j, j + h, j + 2h, ... below N: one number of terms up to j = (N-1) mod h, one fewer
/// above. So two sums do for the costs, `more` and `less`, and each contribution is in the result once.
void exchange_counts(MpiPeers& peers, NodeBoard* board, const GroupInfo& machine, std::int32_t member,
                     const Circle& circle, Digest& digest, std::span<std::uint32_t> counts, const Waiting& why) {
  const std::int32_t count = circle.count();
  const auto at = [&](std::int32_t distance) { return circle.members[static_cast<std::size_t>(distance)]; };
  const auto begin = [&](std::int32_t distance) { return circle.begin[static_cast<std::size_t>(distance)]; };
  std::int32_t h = 1;
  while (std::int64_t{h} * circle.radix < count) h *= circle.radix;
  for (std::int32_t known = count; known > 1; known = std::exchange(h, h / circle.radix)) {
    const std::int32_t turns = (known - 1) / h, mine = circle.turn * h;
    ArrivalRecord came;
    if (circle.turn <= turns) {
      const auto part = counts.subspan(begin(mine), begin(std::min(mine + h, known)) - begin(mine));
      came = send_on(peers, machine, member, at(mine), at(count - mine), digest, part, why);
    }
    const std::int64_t rest = (count - 1) % (std::int64_t{h} * circle.radix);
    for (Digest::Pair& sum : digest.sums) {
      if (h - 1 <= rest) sum.less = sum.more;
    }
    const auto add = [&](std::int32_t turn, std::span<const std::byte> bytes) {
      Reader in(bytes);
      digest.agreement.add(in.next<Agreement>());
      digest.board = std::max(digest.board, in.next<std::uint64_t>());
      const auto sums = in.next<std::uint64_t>();
      for (std::size_t i = 0; i < sums; ++i) {
        const auto theirs = in.next<Digest::Pair>();
        if (i >= digest.sums.size()) continue;  // they disagree on the superstep, and will be told
        digest.sums[i].more.add(turn * h <= rest ? theirs.more : theirs.less);
        digest.sums[i].less.add(turn * h + h - 1 <= rest ? theirs.more : theirs.less);
      }
      for (std::size_t i = 0; !in.empty(); ++i) counts[i] += in.next<std::uint32_t>();
    };
    if (!circle.shared) {
      add(circle.turn, came.bytes.view());
    } else {
      show(peers, *board, came.bytes.view(), why, [&](int slot, std::span<const std::byte> bytes) {
        if (slot < turns) add(slot + 1, bytes);
      });
    }
  }
}

}  // namespace chasqui::bsp::detail
