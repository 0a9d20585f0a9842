// SPDX-License-Identifier: MIT
#include "bsp/mpi/ending.hpp"

#include <cstring>
#include <utility>

#include "bsp/processes/packed_accounts.hpp"

namespace chasqui::bsp::detail {

namespace {

/// The ranks as a binomial tree with rank 0 on top, of which bytes come together and are handed down again.
class LedgerTree {
 public:
  explicit LedgerTree(MpiPeers& peers) : peers_(peers) {
    while (above_ < peers_.size() && peers_.rank() % (2 * above_) == 0) above_ *= 2;
  }

  /// What those below have: take(bytes) for each.
  template <typename Take>
  void collect(const Take& take) {
    for (std::int32_t distance = 1; distance < above_; distance *= 2) {
      if (peers_.rank() + distance < peers_.size()) take(from(peers_.rank() + distance)->payload.view());
    }
  }
  /// Hands the bytes up, and gets those of all.
  void swap_above(Buffer& bytes) {
    if (peers_.rank() == 0) return;
    hand(peers_.rank() - above_, bytes);
    bytes = std::move(from(peers_.rank() - above_)->payload);
  }
  void hand_down(const Buffer& bytes) {
    for (std::int32_t distance = above_ / 2; distance >= 1; distance /= 2) {
      if (peers_.rank() + distance < peers_.size()) hand(peers_.rank() + distance, bytes);
    }
  }

  std::uint64_t handed() const { return handed_; }  ///< messages

 private:
  void hand(std::int32_t to, const Buffer& bytes) {
    RecordHead head;
    head.record = Record::block;
    head.from = peers_.rank();
    head.channel.lane = Lane::ledger;
    peers_.mail().send(to, head, bytes.view());
    ++handed_;
  }
  /// Waits for it.
  BlockPtr from(std::int32_t rank) {
    peers_.wait_until(Waiting{}, [&] { return peers_.inbox().has_ledger_of(rank); });
    return peers_.inbox().take_ledger_of(rank);
  }

  MpiPeers& peers_;
  std::int32_t above_ = 1;  ///< distance to the rank above; of rank 0: as far as that one would be
  std::uint64_t handed_ = 0;
};

/// Messages of the program, and what is wrong where nobody has claimed one.
struct Tally {
  std::uint64_t sent = 0, received = 0;
  std::string unclaimed{};

  void add(std::span<const std::byte> bytes) {
    Reader in(bytes);
    sent += in.next<std::uint64_t>();
    received += in.next<std::uint64_t>();
    if (!unclaimed.empty()) return;
    while (!in.empty()) unclaimed.push_back(in.next<char>());
  }
  Buffer bytes() const {
    Buffer out;
    append_bytes(out, &sent, sizeof sent);
    append_bytes(out, &received, sizeof received);
    append_bytes(out, unclaimed.data(), unclaimed.size());
    return out;
  }
};

/// Returns when every message of the program has come: none will meet whoever has the communicator next. Throws on all ranks when nobody has
/// claimed one. Who adds to a tally has ended its program and sends nothing more, so that equal sums prove it.
void see_that_nothing_is_left(MpiPeers& peers, LedgerTree& tree) {
  for (bool all_here = false; !all_here;) {
    Tally tally;
    tree.collect([&](std::span<const std::byte> theirs) { tally.add(theirs); });
    while (peers.progress()) {
    }
    tally.sent += peers.mail().sent() - tree.handed();
    tally.received += peers.inbox().messages() - peers.inbox().ledger_parts();
    if (const Block* const left = peers.inbox().last_block(); left != nullptr && tally.unclaimed.empty())
      tally.unclaimed = unclaimed(*left, peers.rank());
    Buffer bytes = tally.bytes();
    tree.swap_above(bytes);
    tree.hand_down(bytes);
    Tally all;
    all.add(bytes.view());
    all_here = all.sent == all.received;
    if (!all_here || all.unclaimed.empty()) continue;
    peers.all_know_why();
    throw MachineError(Fault::lost_messages, all.unclaimed);
  }
}

}  // namespace

Ledger end_well(MpiPeers& peers, const MpiBooks& books, double seconds) {
  MpiFate& fate = peers.fate();
  peers.mail().flush_all();  // others may wait for the last messages of a collective
  LedgerTree tree(peers);
  see_that_nothing_is_left(peers, tree);
  Buffer bytes;
  books.pack_for_others(peers.rank(), bytes);
  tree.collect([&](std::span<const std::byte> theirs) { append_bytes(bytes, theirs.data(), theirs.size()); });
  peers.wait_until(Waiting{}, [&] { return peers.nobody_answers_any_more(); });
  if (bytes.size() > MpiMail::kMostBytes)
    throw MachineError(Fault::resources,
                       fmt::format("a ledger of {} bytes: at most {} over MPI; make fewer supersteps, or no row for "
                                   "every processor",
                                   bytes.size(), MpiMail::kMostBytes));
  fate.throw_if_failed();
  // Who has handed its part up may not fail any more: rank 0 and others may have gone on the strength of it.
  fate.begin_to_end();
  tree.swap_above(bytes);
  tree.hand_down(bytes);
  while (peers.mail().under_way()) {
    if (!fate.insist([&] { return peers.progress(); })) sched_yield();
    fate.insist([&] { peers.mail().reap(); });
  }
  return fate.insist([&] {
    Ledger all = ledger_of(unpack_accounts(bytes.view()), peers.size());
    all.seconds = seconds;
    return all;
  });
}

void end_badly(MpiPeers& peers, Fault fault, const std::function<std::string()>& text) {
  MpiFate& fate = peers.fate();
  fate.begin_to_end();
  if (!fate.failed()) fate.fail(fault, fate.insist(text));
  peers.mail().drop();
  RecordHead head;
  if (!peers.told_why()) {
    head.record = Record::abort;
    head.index = static_cast<std::uint32_t>(fate.fault());
    peers.tell_all(head, std::as_bytes(std::span(fate.text())));
  }
  head.record = Record::goodbye;
  peers.tell_all(head, {});
  // Nobody sends after its goodbye, and messages of one sender keep their order.
  while (peers.goodbyes() < peers.size() - 1 || peers.mail().under_way()) {
    if (!fate.insist([&] { return peers.progress(); })) sched_yield();
    fate.insist([&] { peers.mail().reap(); });
  }
}

}  // namespace chasqui::bsp::detail
