// SPDX-License-Identifier: MIT
#include "bsp/mpi_endpoint.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "bsp/packed_accounts.hpp"
#include "mpi/together.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int32_t kFew = 8;                ///< members that send each other a message in any case
constexpr std::size_t kLarge = 1024;            ///< bytes of a block that is not worth a copy
constexpr std::uint32_t kWorthABoard = 4;       ///< meetings of a part of the machine before it gets one
constexpr std::uint32_t kUnseen = 64;           ///< meetings in which MPI need not be looked at
constexpr std::int64_t kPatience = 50'000'000;  ///< nanoseconds rank 0 waits before it asks around

/// Of a part of the machine: no counts for other nodes are shown there.
run::BoardShape board_shape(std::int32_t members) { return NodeBoard::shape(members, 256); }

}  // namespace

MpiEndpoint::MpiEndpoint(std::int32_t rank, std::int32_t size, const Options& options)
    : rank_(rank), size_(size), options_(options), fate_(rank), mail_(fate_, size), waves_(size) {}

std::unique_ptr<MpiEndpoint> MpiEndpoint::make(MPI_Comm communicator, const Options& options) try {
  auto made = mpi::make_together(communicator, [&](mpi::Together& all) {
    std::unique_ptr<MpiEndpoint> endpoint(new MpiEndpoint(all.rank(), all.size(), options));
    all.most();
    endpoint->mail_.open(communicator);
    if (all.size() == 1) return endpoint;
    endpoint->nodes_ = MpiNodes::of(communicator, all, options.pretend_node_size);
    if (endpoint->nodes_ == nullptr) return endpoint;
    endpoint->store_ = endpoint->nodes_->store();
    endpoint->sizes_.resize(static_cast<std::size_t>(endpoint->nodes_->board().ranks()));
    return endpoint;
  });
  return made;
} catch (const mpi::AgreedError& error) {
  throw MachineError(Fault::resources, error.what());
}

/// As large as the last ones were: a block that grows is copied.
Buffer MpiEndpoint::room_for(std::int32_t to) {
  const int slot = to == rank_ ? -1 : nodes_->slot_of(to);
  if (slot < 0) return {};
  Buffer room(*store_);
  if (const std::size_t bytes = sizes_[static_cast<std::size_t>(slot)]; bytes > 0) room.reserve(bytes);
  return room;
}

void MpiEndpoint::arrived(BlockPtr block) { arrived_blocks_.push(std::move(block)); }

void MpiEndpoint::post(std::int32_t to, BlockPtr block, bool counted) {
  fate_.throw_if_failed();
  if (to == rank_) return arrived(std::move(block));
  Buffer& out = mail_.out(to);
  if (block->payload.borrowed()) {
    RecordHead head;
    head.record = Record::lent;
    head.channel = block->channel;
    head.counted = counted ? 1 : 0;
    std::byte* const end = out.extend(sizeof head);
    head.information = send_lent(to, std::move(block), 0);
    std::memcpy(end, &head, sizeof head);
    return;
  }
  if (block->payload.size() > MpiMail::kMostBytes) {
    throw MachineError(Fault::resources,
                       fmt::format("rank {} sends {} bytes at once to rank {}: at most {} over MPI; split them", rank_,
                                   block->payload.size(), to, MpiMail::kMostBytes));
  }
  if (out.size() + block->payload.size() > MpiMail::kMostBytes) mail_.flush(to);
  RecordHead head;
  head.record = Record::block;
  head.from = block->from;
  head.channel = block->channel;
  head.index = block->index;
  head.messages = block->messages;
  head.flags = block->kinds;
  head.information = block->information;
  head.counted = counted ? 1 : 0;
  if (out.empty() && block->payload.size() >= kLarge) {
    const std::size_t bytes = block->payload.size();
    std::swap(out, block->payload);
    append_head(out, head, bytes);
  } else {
    append(out, head, block->payload.view());
  }
  if (out.size() >= static_cast<std::size_t>(64 * 1024)) mail_.flush(to);
}

/// Where the block lies, for rank `to` of this node, behind the one at `before`.
std::uint64_t MpiEndpoint::send_lent(std::int32_t to, BlockPtr block, std::uint64_t before) {
  std::size_t& usual = sizes_[static_cast<std::size_t>(nodes_->slot_of(to))];
  usual = std::max(block->payload.size(), usual - usual / 8);
  return store_->send(std::move(block), before);
}

bool MpiEndpoint::progress() {
  std::optional<Buffer> message = mail_.next();
  if (!message) return false;
  try {
    receive(*message);
  } catch (const std::exception& error) {
    if (fate_.ending() && !fate_.failed()) fate_.end_job(error.what());
    throw;
  }
  mail_.keep(std::move(*message));
  return true;
}

void MpiEndpoint::receive(Buffer& message) {
  bool of_program = false;
  for_each_record(message.view(), [&](const RecordHead& head, std::span<const std::byte> bytes, std::size_t begin) {
    switch (head.record) {
      case Record::block: {
        auto block = std::make_unique<Block>();
        block->channel = head.channel;
        block->from = head.from;
        block->index = head.index;
        block->messages = head.messages;
        block->kinds = head.flags;
        if (head.counted != 0) ++counted_[head.channel];
        block->information = head.information;
        of_program = true;
        if (begin == 0 && bytes.size() >= kLarge) {  // the last to be looked at
          std::swap(block->payload, message);
          block->payload.resize(bytes.size());
        } else if (!bytes.empty()) {
          std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
        }
        if (block->channel.lane == Lane::ledger) {  // not for the program, which may still be running here
          ledgers_.push_back(std::move(block));
          break;
        }
        arrived(std::move(block));
        break;
      }
      case Record::lent: {
        std::uint64_t offset = head.information;
        arrived(store_->receive(offset));
        if (head.counted != 0) ++counted_[head.channel];
        of_program = true;
        break;
      }
      case Record::arrival: {
        Arrived& arrived = arrivals_[head.channel.group][head.from].emplace_back();
        arrived.head = head;
        if (!bytes.empty()) std::memcpy(arrived.bytes.extend(bytes.size()), bytes.data(), bytes.size());
        of_program = true;
        break;
      }
      case Record::probe: probe_ = head.index; break;
      case Record::status: waves_.hear(head.from, head.index, unpack_status(bytes)); break;
      case Record::abort:
        told_ = true;
        fate_.fail(static_cast<Fault>(head.index), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        break;
      case Record::goodbye: ++goodbyes_; break;
    }
  });
  if (of_program) ++received_;
}

Block* MpiEndpoint::take() {
  if (std::exchange(all_in_, false) && ++unseen_ % kUnseen != 0) return arrived_blocks_.release();
  while (progress()) {
  }
  return arrived_blocks_.release();
}

template <typename Condition>
void MpiEndpoint::wait_until(const Waiting& why, const Condition& condition) {
  const std::int64_t begin = clock_nanoseconds();
  std::int64_t look_at = begin + kPatience;
  for (std::uint64_t idle = 0;;) {
    fate_.throw_if_failed();
    if (condition()) return;
    if (fate_.insist([&] { return progress(); })) {
      idle = 0;
      continue;
    }
    fate_.insist([&] { mail_.reap(); });
    if (probe_) fate_.insist([&] { answer_probe(why); });
    ++idle;
    if (idle > 64) sched_yield();
    if (idle > 20000) usleep(50);
    if (rank_ == 0 && size_ > 1 && idle % 64 == 0 && clock_nanoseconds() > look_at) {
      look_for_deadlock(why);
      look_at = clock_nanoseconds() + kPatience / 10;
    }
  }
}

void MpiEndpoint::await(const Waiting& why) {
  mail_.flush_all();
  wait_until(why, [&] { return !arrived_blocks_.empty(); });
}

GroupPtr MpiEndpoint::open(const GroupInfo& info) {
  auto group = std::make_shared<MpiGroup>(info);
  group->costs = &accounts_.try_emplace(info.id, info.costs()).first->second;
  speaker_[info.id] = info.members.at(0);
  if (store_ == nullptr || info.id == GroupInfo{}.id) return group;
  group->store = store_;
  group->on_one_node = info.members.count > 1;
  for (std::int32_t i = 0; i < info.members.count && group->on_one_node; ++i)
    group->on_one_node = nodes_->slot_of(info.members.at(i)) >= 0;
  return group;
}

/// A few ranks of several nodes are faster by messages, which carry the data too.
std::optional<MpiEndpoint::Table> MpiEndpoint::table_of(const MpiGroup& group) {
  if (group.board != nullptr) return Table{*group.board, nullptr};
  if (nodes_ == nullptr || group.info.id != GroupInfo{}.id || options_.per_processor_costs) return std::nullopt;
  if (nodes_->count() > 1 && size_ <= kFew) return std::nullopt;
  return Table{nodes_->board(), nodes_.get()};
}

std::uint32_t MpiEndpoint::meet(GroupState& state, const Arrival& arrival, std::span<Parcel> parcels, Blocks& in,
                                const Waiting& why) {
  fate_.throw_if_failed();
  auto& group = static_cast<MpiGroup&>(state);
  const Members& members = group.info.members;
  const std::optional<Table> table = table_of(group);
  const bool each = !table && meets_each(members.count);
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
        post(members.at(parcel.to), std::move(block), !each);
        ++share.blocks;
      }
    }
    if (!each && parcel.to != arrival.member && share.blocks > 0) shares.push_back(share);
  }
  const std::uint32_t flags =
      each ? meet_each(group, arrival, why).agreed(members) : meet_in_rounds(group, arrival, table, shares, why);
  if (table) pick_up(*table, own, in);
  mail_.reap();
  return flags;
}

/// Those that lie in the store are linked, and the board will say where they begin; those for which it had no room are posted. How many
/// those are.
Share MpiEndpoint::put_down(const Table& table, const Members& members, Parcel& parcel) {
  Share posted{parcel.to, 0};
  const std::int32_t to = members.at(parcel.to);
  std::uint64_t first = 0, last = 0;
  while (BlockPtr block = parcel.blocks.pop_front()) {
    if (!block->payload.borrowed()) {
      post(to, std::move(block), true);
      ++posted.blocks;
      continue;
    }
    last = send_lent(to, std::move(block), last);
    if (first == 0) first = last;
  }
  if (first != 0) table.board.put_down(table.slot_of(parcel.to), first);
  return posted;
}

/// What ranks of the node have put down for this one, and its own, by sender.
void MpiEndpoint::pick_up(const Table& table, Chain& own, Blocks& in) {
  for (int slot = 0; slot < table.board.ranks(); ++slot) {
    if (slot == table.board.slot()) {
      while (BlockPtr block = own.pop_front()) in.push_back(std::move(block));
    } else {
      for (std::uint64_t offset = table.board.put_down_by(slot); offset != 0;) in.push_back(store_->receive(offset));
    }
  }
}

/// The first member of a part of the machine that has met a few times, all on one node, sets up a board and tells where.
std::uint64_t MpiEndpoint::offer(MpiGroup& group, const Arrival& arrival) {
  if (!group.on_one_node || options_.per_processor_costs || ++group.meetings != kWorthABoard) return 0;
  if (arrival.member != 0) return 0;
  const run::BoardShape shape = board_shape(group.info.members.count);
  const std::uint64_t board =
      store_->share(NodeBoard::bytes(shape), static_cast<std::uint32_t>(group.info.members.count));
  if (board != 0) NodeBoard::clear(store_->at(board), shape);
  return board;
}

/// All members do at the end of the same meeting.
void MpiEndpoint::accept(MpiGroup& group, const Arrival& arrival, std::uint64_t board) {
  if (board == 0) return;
  group.board_at = board;
  group.board = std::make_unique<NodeBoard>(store_->at(board), board_shape(group.info.members.count), arrival.member,
                                            nodes_->cores());
}

MpiEndpoint::Arrived MpiEndpoint::next_arrival(std::uint64_t group, std::int32_t from, const Waiting& why) {
  std::deque<Arrived>& queue = arrivals_[group][from];
  wait_until(why, [&] { return !queue.empty(); });
  Arrived next = std::move(queue.front());
  queue.pop_front();
  return next;
}

bool MpiEndpoint::meets_each(std::int32_t members) const { return members <= kFew || options_.per_processor_costs; }

/// Everybody's rows to everybody, behind the blocks: one message to each.
Agreement MpiEndpoint::meet_each(MpiGroup& group, const Arrival& arrival, const Waiting& why) {
  const Members& members = group.info.members;
  RecordHead head;
  head.record = Record::arrival;
  head.from = arrival.member;
  head.channel.group = group.info.id;
  head.channel.step = arrival.step;
  head.flags = arrival.flags;
  std::uint64_t board = head.information = offer(group, arrival);
  for (std::int32_t i = 1; i < members.count; ++i) {  // start at the next member: nobody is everybody's first
    const std::int32_t to = members.at((arrival.member + i) % members.count);
    append(mail_.out(to), head, std::as_bytes(arrival.rows));
    mail_.flush(to);
  }
  mail_.flush_all();
  Agreement agreement;
  agreement.add(arrival.step, arrival.member, arrival.flags);
  for (const Booking& row : arrival.rows) merge(*group.costs, row, options_.per_processor_costs);
  for (std::int32_t member = 0; member < members.count; ++member) {
    if (member == arrival.member) continue;
    const Arrived came = next_arrival(group.info.id, member, why);
    agreement.add(came.head.channel.step, member, came.head.flags);
    board = std::max(board, came.head.information);
    for (std::size_t at = 0; at < came.bytes.size(); at += sizeof(Booking)) {
      Booking row;
      std::memcpy(&row, came.bytes.data() + at, sizeof row);
      merge(*group.costs, row, options_.per_processor_costs);
    }
  }
  accept(group, arrival, board);
  return agreement;
}

/// Learns how many blocks to expect, with what else all must know, and waits for them. The flags of all.
std::uint32_t MpiEndpoint::meet_in_rounds(MpiGroup& group, const Arrival& arrival, const std::optional<Table>& table,
                                          std::span<const Share> shares, const Waiting& why) {
  mail_.flush_all();
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
  exchange(group, arrival.member, circle, digest, counts, why);
  for (const auto& [sum, less] : digest.sums) {
    auto& steps = group.costs->supersteps;
    if (steps.size() <= sum.step) steps.resize(sum.step + 1);
    merge(steps[sum.step], sum.superstep());
  }
  const std::uint32_t flags = digest.agreement.agreed(members);
  if (counts[own] > 0) {
    const Channel channel{group.info.id, arrival.step, arrival.lane};
    wait_until(why, [&] { return counted_[channel] >= counts[own]; });
    counted_.erase(channel);
  }
  if (!table) accept(group, arrival, digest.board);
  else all_in_ = true;
  return flags;
}

template <typename Visit>
void MpiEndpoint::show(NodeBoard& board, std::span<const std::byte> mine, const Waiting& why, const Visit& visit) {
  board.show(
      mine,
      [&](const auto& condition) {
        wait_until(why, condition);
        ++shown_;
      },
      visit);
}

/// The ranks of a node show what each brings, and add it up.
void MpiEndpoint::show_on_node(const Table& table, const Arrival& arrival, std::span<const Share> shares,
                               Digest& digest, std::span<std::uint32_t> counts, const Waiting& why) {
  std::vector<Sum> sums;
  for (const Booking& row : arrival.rows) sums.push_back(Sum::of(row));
  Brought mine{arrival.step, arrival.flags, static_cast<std::uint32_t>(sums.size()), 0, 0, 0, 0};
  if (sums.size() == 1 && sums[0].quiet()) {
    mine = {arrival.step, arrival.flags, 0, 1, sums[0].most[0], sums[0].most[1], sums[0].most[5]};
    sums.clear();
  }
  Buffer out = mail_.spare();
  append_bytes(out, &mine, sizeof mine);
  append_bytes(out, sums.data(), sums.size() * sizeof(Sum));
  append_bytes(out, shares.data(), shares.size_bytes());
  show(table.board, out.view(), why, [&](int slot, std::span<const std::byte> bytes) {
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
  mail_.keep(std::move(out));
}

/// A reduce-scatter of how many blocks each gets, by distance from this one; the counts at distance 0 are the result. In the
/// round of distance h, one hands what it knows of those at distances from ih up to (i+1)h to the one at distance ih, i = 1, 2, ...
/// below the radix (the windows of the all-gather, backwards). With it travel the agreement and the costs of the superstep. After that round an entry j
/// has the contributions of distances j, j + h, j + 2h, ... below N: one number of terms up to j = (N-1) mod h, one fewer
/// above. So two sums do for the costs, `more` and `less`, and each contribution is in the result once.
void MpiEndpoint::exchange(const MpiGroup& group, std::int32_t member, const Circle& circle, Digest& digest,
                           std::span<std::uint32_t> counts, const Waiting& why) {
  const std::int32_t count = circle.count();
  const auto at = [&](std::int32_t distance) { return circle.members[static_cast<std::size_t>(distance)]; };
  const auto begin = [&](std::int32_t distance) { return circle.begin[static_cast<std::size_t>(distance)]; };
  std::int32_t h = 1;
  while (std::int64_t{h} * circle.radix < count) h *= circle.radix;
  for (std::int32_t known = count; known > 1; known = std::exchange(h, h / circle.radix)) {
    const std::int32_t turns = (known - 1) / h, mine = circle.turn * h;
    Arrived came;
    if (circle.turn <= turns) {
      RecordHead head;
      head.record = Record::arrival;
      head.from = member;
      head.channel.group = group.info.id;
      const std::int32_t to = group.info.members.at(at(mine));
      Buffer& out = mail_.out(to);
      const std::size_t before = out.size();
      const std::uint64_t sums = digest.sums.size();
      append_bytes(out, &digest.agreement, sizeof digest.agreement);
      append_bytes(out, &digest.board, sizeof digest.board);
      append_bytes(out, &sums, sizeof sums);
      append_bytes(out, digest.sums.data(), sums * sizeof(Digest::Pair));
      const auto part = counts.subspan(begin(mine), begin(std::min(mine + h, known)) - begin(mine));
      if (std::ranges::any_of(part, [](std::uint32_t blocks) { return blocks > 0; }))
        append_bytes(out, part.data(), part.size_bytes());
      append_head(out, head, out.size() - before);
      mail_.flush(to);
      came = next_arrival(group.info.id, at(count - mine), why);
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
      show(nodes_->board(), came.bytes.view(), why, [&](int slot, std::span<const std::byte> bytes) {
        if (slot < turns) add(slot + 1, bytes);
      });
    }
  }
}

RankStatus MpiEndpoint::status(const Waiting& why) const {
  return {mail_.sent() + shown_, received_ + shown_, why, why.file};
}

void MpiEndpoint::answer_probe(const Waiting& why) {
  RecordHead head;
  head.record = Record::status;
  head.from = rank_;
  head.index = *probe_;
  Buffer bytes;
  pack(status(why), bytes);
  probe_.reset();
  mail_.send_uncounted(0, head, bytes.view());
}

/// Rank 0 only, while it waits.
void MpiEndpoint::look_for_deadlock(const Waiting& why) {
  switch (waves_.look(status(why))) {
    case DeadlockWaves::Found::nothing: return;
    case DeadlockWaves::Found::deadlock: {
      const MachineError report = waves_.report();
      fate_.fail(report.fault(), report.text());  // abandon() tells the others
      return;
    }
    case DeadlockWaves::Found::question: break;
  }
  RecordHead head;
  head.record = Record::probe;
  head.index = waves_.number();
  for (std::int32_t to = 1; to < size_; ++to) mail_.send_uncounted(to, head, {});
}

// How a program ends, well or not: the ledgers come together, or everybody learns of the failure.

void MpiEndpoint::report(GroupState& group, std::span<const Booking> rows) {
  if (rows.empty()) return;
  const GroupInfo& info = static_cast<MpiGroup&>(group).info;
  MachineCosts& costs = leftovers_.try_emplace(info.id, info.costs()).first->second;
  for (const Booking& row : rows) merge(costs, row, options_.per_processor_costs);
}

Ledger MpiEndpoint::ledger() {
  std::vector<MachineCosts> machines;
  machines.reserve(accounts_.size());
  for (const auto& [id, costs] : accounts_) machines.push_back(costs);
  return {size_, 0, arrange(std::move(machines))};
}

/// Waits for it.
BlockPtr MpiEndpoint::ledger_of(std::int32_t from) {
  const auto theirs = [&](const BlockPtr& block) { return block->from == from; };
  wait_until(Waiting{}, [&] { return std::ranges::any_of(ledgers_, theirs); });
  const auto found = std::ranges::find_if(ledgers_, theirs);
  BlockPtr block = std::move(*found);
  ledgers_.erase(found);
  return block;
}

Ledger MpiEndpoint::finish(double seconds) {
  // What others do not know: the accounts this rank speaks for, and rows that no barrier carried.
  Buffer bytes;
  for (const auto& [id, costs] : accounts_) {
    if (speaker_[id] == rank_) pack(costs, bytes);
  }
  for (const auto& [id, costs] : leftovers_) pack(costs, bytes);
  mail_.flush_all();  // others may wait for the last messages of a collective
  // Up a binomial tree, and all of it down again.
  const auto hand = [&](std::int32_t to) {
    RecordHead head;
    head.record = Record::block;
    head.from = rank_;
    head.channel.lane = Lane::ledger;
    mail_.send(to, head, bytes.view());
  };
  std::int32_t below = 1;
  for (; below < size_ && rank_ % (2 * below) == 0; below *= 2) {
    if (rank_ + below >= size_) continue;
    const BlockPtr part = ledger_of(rank_ + below);
    if (!part->payload.empty())
      std::memcpy(bytes.extend(part->payload.size()), part->payload.data(), part->payload.size());
  }
  // A rank that answers the last question of rank 0 after that has gone would speak to whoever has its communicator next.
  wait_until(Waiting{}, [&] { return waves_.all_have_answered(); });
  if (bytes.size() > MpiMail::kMostBytes)
    throw MachineError(Fault::resources,
                       fmt::format("a ledger of {} bytes: at most {} over MPI; make fewer supersteps, or no row for "
                                   "every processor",
                                   bytes.size(), MpiMail::kMostBytes));
  fate_.throw_if_failed();
  // Who has handed its part up may not fail any more: rank 0 and others may have gone on the strength of it.
  fate_.begin_to_end();
  if (rank_ != 0) {
    hand(rank_ - below);
    bytes = std::move(ledger_of(rank_ - below)->payload);
  }
  for (below /= 2; below >= 1; below /= 2) {
    if (rank_ + below < size_) hand(rank_ + below);
  }
  while (mail_.under_way()) {
    if (!fate_.insist([&] { return progress(); })) sched_yield();
    fate_.insist([&] { mail_.reap(); });
  }
  return fate_.insist([&] {
    accounts_ = unpack_accounts(bytes.view());
    Ledger all = ledger();
    all.seconds = seconds;
    return all;
  });
}

void MpiEndpoint::abandon(Fault fault, const std::function<std::string()>& text) {
  fate_.begin_to_end();
  if (!fate_.failed()) fate_.fail(fault, fate_.insist(text));
  mail_.drop();
  RecordHead head;
  if (!told_) {
    head.record = Record::abort;
    head.index = static_cast<std::uint32_t>(fate_.fault());
    for (std::int32_t to = 0; to < size_; ++to) {
      if (to != rank_) mail_.send_uncounted(to, head, std::as_bytes(std::span(fate_.text())));
    }
  }
  head.record = Record::goodbye;
  for (std::int32_t to = 0; to < size_; ++to) {
    if (to != rank_) mail_.send_uncounted(to, head, {});
  }
  // Nobody sends after its goodbye, and messages of one sender keep their order.
  while (goodbyes_ < size_ - 1 || mail_.under_way()) {
    if (!fate_.insist([&] { return progress(); })) sched_yield();
    fate_.insist([&] { mail_.reap(); });
  }
}

}  // namespace chasqui::bsp::detail
