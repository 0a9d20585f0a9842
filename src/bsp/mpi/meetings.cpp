// SPDX-License-Identifier: MIT
#include "bsp/mpi/meetings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "bsp/mpi/rounds.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int32_t kFew = 8;           ///< members that send each other a message in any case
constexpr std::uint32_t kWorthABoard = 4;  ///< meetings of a part of the machine before it gets one

/// Of a part of the machine: no counts for other nodes are shown there.
run::BoardShape board_shape(std::int32_t members) { return NodeBoard::shape(members, 256); }

}  // namespace

std::shared_ptr<MpiGroup> MpiMeetings::open(const GroupInfo& info, MachineCosts& costs) const {
  auto group = std::make_shared<MpiGroup>(info, costs, peers_.inbox());
  NodeStore* const store = nodes_ == nullptr ? nullptr : nodes_->store();
  if (store == nullptr || info.id == GroupInfo{}.id) return group;
  group->store = store;
  group->on_one_node = info.members.count > 1;
  for (std::int32_t i = 0; i < info.members.count && group->on_one_node; ++i)
    group->on_one_node = nodes_->slot_of(info.members.at(i)) >= 0;
  return group;
}

/// A few ranks of several nodes are faster by messages, which carry the data too.
std::optional<MpiMeetings::Table> MpiMeetings::table_of(const MpiGroup& group) {
  if (group.board != nullptr) return Table{*group.board, nullptr};
  if (nodes_ == nullptr || group.info.id != GroupInfo{}.id || keep_rows_) return std::nullopt;
  if (nodes_->count() > 1 && peers_.size() <= kFew) return std::nullopt;
  return Table{nodes_->board(), nodes_.get()};
}

std::uint32_t MpiMeetings::meet(MpiGroup& group, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                                const Waiting& why) {
  peers_.fate().throw_if_failed();
  const Members& members = group.info.members;
  const std::optional<Table> table = table_of(group);
  const bool each = !table && (members.count <= kFew || keep_rows_);
  std::vector<Share> shares;
  Chain own;
  if (table) table->board.begin();
  for (Parcel& parcel : parcels) {
    if (table && parcel.to == arrival.member) {
      std::swap(own, parcel.blocks);
      continue;
    }
    Share share{parcel.to, 0};
    if (table && table->slot_of(parcel.to) >= 0) {
      share = put_down(*table, members, parcel);
    } else {
      while (BlockPtr block = parcel.blocks.pop_front()) {
        peers_.post(members.at(parcel.to), std::move(block), !each);
        ++share.blocks;
      }
    }
    if (!each && parcel.to != arrival.member && share.blocks > 0) shares.push_back(share);
  }
  const std::uint32_t flags =
      each ? meet_each(group, arrival, why).agreed(members) : meet_in_rounds(group, arrival, table, shares, why);
  if (table) pick_up(*table, own, in);
  peers_.mail().reap();
  return flags;
}

/// Those that lie in the store are linked, and the board will say where they begin; those for which it had no room are posted. How many
/// those are.
Share MpiMeetings::put_down(const Table& table, const Members& members, Parcel& parcel) {
  Share posted{parcel.to, 0};
  const std::int32_t to = members.at(parcel.to);
  std::uint64_t first = 0, last = 0;
  while (BlockPtr block = parcel.blocks.pop_front()) {
    if (!block->payload.borrowed()) {
      peers_.post(to, std::move(block), true);
      ++posted.blocks;
      continue;
    }
    last = peers_.rooms().send(to, std::move(block), last);
    if (first == 0) first = last;
  }
  if (first != 0) table.board.put_down(table.slot_of(parcel.to), first);
  return posted;
}

/// What ranks of the node have put down for this one, and its own, by sender.
void MpiMeetings::pick_up(const Table& table, Chain& own, Blocks& in) {
  NodeStore* const store = nodes_->store();
  for (int slot = 0; slot < table.board.ranks(); ++slot) {
    if (slot == table.board.slot()) {
      while (BlockPtr block = own.pop_front()) in.push_back(std::move(block));
    } else {
      for (std::uint64_t offset = table.board.put_down_by(slot); offset != 0;) in.push_back(store->receive(offset));
    }
  }
}

/// The first member of a part of the machine that has met a few times, all on one node, sets up a board and tells where.
std::uint64_t MpiMeetings::offer(MpiGroup& group, const Arrival& arrival) {
  if (!group.on_one_node || keep_rows_ || ++group.meetings != kWorthABoard) return 0;
  if (arrival.member != 0) return 0;
  const run::BoardShape shape = board_shape(group.info.members.count);
  const std::uint64_t board =
      group.store->share(NodeBoard::bytes(shape), static_cast<std::uint32_t>(group.info.members.count));
  if (board != 0) NodeBoard::clear(group.store->at(board), shape);
  return board;
}

/// All members do at the end of the same meeting.
void MpiMeetings::accept(MpiGroup& group, const Arrival& arrival, std::uint64_t board) {
  if (board == 0) return;
  group.board_at = board;
  group.board = std::make_unique<NodeBoard>(group.store->at(board), board_shape(group.info.members.count),
                                            arrival.member, nodes_->cores());
}

/// Everybody's rows to everybody, behind the blocks: one message to each.
Agreement MpiMeetings::meet_each(MpiGroup& group, const Arrival& arrival, const Waiting& why) {
  const Members& members = group.info.members;
  MpiMail& mail = peers_.mail();
  RecordHead head;
  head.record = Record::arrival;
  head.from = arrival.member;
  head.channel.group = group.info.id;
  head.channel.step = arrival.step;
  head.flags = arrival.flags;
  std::uint64_t board = head.information = offer(group, arrival);
  for (std::int32_t i = 1; i < members.count; ++i) {  // start at the next member: nobody is everybody's first
    const std::int32_t to = members.at((arrival.member + i) % members.count);
    append(mail.out(to), head, std::as_bytes(arrival.rows));
    mail.flush(to);
  }
  mail.flush_all();
  Agreement agreement;
  agreement.add(arrival.step, arrival.member, arrival.flags);
  for (const Booking& row : arrival.rows) merge(group.costs, row, keep_rows_);
  for (std::int32_t member = 0; member < members.count; ++member) {
    if (member == arrival.member) continue;
    const ArrivalRecord came = next_arrival(peers_, group.info.id, member, why);
    agreement.add(came.head.channel.step, member, came.head.flags);
    board = std::max(board, came.head.information);
    for (std::size_t at = 0; at < came.bytes.size(); at += sizeof(Booking)) {
      Booking row;
      std::memcpy(&row, came.bytes.data() + at, sizeof row);
      merge(group.costs, row, keep_rows_);
    }
  }
  accept(group, arrival, board);
  return agreement;
}

/// Learns how many blocks to expect, with what else all must know, and waits for them. The flags of all.
std::uint32_t MpiMeetings::meet_in_rounds(MpiGroup& group, const Arrival& arrival, const std::optional<Table>& table,
                                          std::span<const Share> shares, const Waiting& why) {
  peers_.mail().flush_all();
  const Members& members = group.info.members;
  static const Circle kAlone = Circle::of_members(1, 0);
  const bool of_nodes = table && table->nodes != nullptr;
  if (!table && !group.members) group.members = Circle::of_members(members.count, arrival.member);
  const Circle& circle = of_nodes ? nodes_->circle() : table ? kAlone : *group.members;
  Digest digest(arrival.rows);
  std::vector<std::uint32_t> counts(circle.begin.back());
  const std::size_t own = of_nodes ? static_cast<std::size_t>(nodes_->count_for(arrival.member)) : 0;
  if (table) {
    show_on_node(*table, arrival, shares, digest, counts, why);
  } else {
    digest.board = offer(group, arrival);
    digest.agreement.add(arrival.step, arrival.member, arrival.flags);
    for (std::size_t i = 0; i < arrival.rows.size(); ++i) digest.add(i, Sum::of(arrival.rows[i]));
    for (const Share& share : shares)
      counts[static_cast<std::size_t>((share.to - arrival.member + members.count) % members.count)] = share.blocks;
  }
  exchange_counts(peers_, of_nodes ? &nodes_->board() : nullptr, group.info, arrival.member, circle, digest, counts,
                  why);
  for (const auto& [sum, less] : digest.sums) {
    auto& steps = group.costs.supersteps;
    if (steps.size() <= sum.step) steps.resize(sum.step + 1);
    merge(steps[sum.step], sum.superstep());
  }
  const std::uint32_t flags = digest.agreement.agreed(members);
  if (counts[own] > 0) {
    const Channel channel{group.info.id, arrival.step, arrival.lane};
    peers_.wait_until(why, [&] { return peers_.inbox().all_counted(channel, counts[own]); });
  }
  if (!table) accept(group, arrival, digest.board);
  else peers_.all_is_in();
  return flags;
}

/// The ranks of a node show what each brings, and add it up.
void MpiMeetings::show_on_node(const Table& table, const Arrival& arrival, std::span<const Share> shares,
                               Digest& digest, std::span<std::uint32_t> counts, const Waiting& why) {
  std::vector<Sum> sums;
  for (const Booking& row : arrival.rows) sums.push_back(Sum::of(row));
  Brought mine{arrival.step, arrival.flags, static_cast<std::uint32_t>(sums.size()), 0, 0, 0, 0};
  if (sums.size() == 1 && sums[0].quiet()) {
    mine = {arrival.step, arrival.flags, 0, 1, sums[0].most[0], sums[0].most[1], sums[0].most[5]};
    sums.clear();
  }
  Buffer out = peers_.mail().spare();
  append_bytes(out, &mine, sizeof mine);
  append_bytes(out, sums.data(), sums.size() * sizeof(Sum));
  append_bytes(out, shares.data(), shares.size_bytes());
  show(peers_, table.board, out.view(), why, [&](int slot, std::span<const std::byte> bytes) {
    Reader in(bytes);
    const auto theirs = in.next<Brought>();
    digest.agreement.add(theirs.step, table.member_at(slot), theirs.flags);
    if (theirs.quiet != 0) digest.add(0, theirs.sum());
    for (std::size_t i = 0; i < theirs.sums; ++i) digest.add(i, in.next<Sum>());
    while (!in.empty()) {
      const auto share = in.next<Share>();
      const std::ptrdiff_t which = table.nodes != nullptr       ? table.nodes->count_for(share.to)
                                   : share.to == arrival.member ? 0
                                                                : -1;
      if (which >= 0) counts[static_cast<std::size_t>(which)] += share.blocks;
    }
  });
  peers_.mail().keep(std::move(out));
}

}  // namespace chasqui::bsp::detail
