// SPDX-License-Identifier: MIT
// Messages and supersteps of one processor in one machine.
#include "chasqui/bsp/detail/core.hpp"

#include <algorithm>
#include <cstring>

#include "bsp/engines.hpp"
#include "bsp/hash.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int32_t kDirectSlots = 1024;  ///< machines up to this size find a destination by index
constexpr std::size_t kLinearSlots = 8;      ///< larger ones search this many before they hash
constexpr std::uint32_t kFlagGets = 1;

}  // namespace

Core::Core(Processor& processor, GroupInfo info, std::int32_t rank, std::shared_ptr<Core> parent)
    : processor_(processor), info_(std::move(info)), rank_(rank), parent_(std::move(parent)) {
  block_bytes_ = parent_ ? parent_->block_bytes_ : processor_.door().options().block_bytes;
  if (block_bytes_ <= 0) block_bytes_ = default_block_bytes();
  main_.info = info_;
  main_.member = rank_;
  main_.group = processor_.door().open(info_);
  if (parent_) ++parent_->children_;
  begin_step(main_);
}

Core::~Core() {
  if (parent_) {
    --parent_->children_;
    if (!outgoing_.empty() || !gets_.empty()) {
      processor_.deferred =
          fmt::format("rank {} left {} with messages or gets that no sync delivered; sync before joining",
                      parent_->rank_, machine_name());
    }
    parent_->begun_ = clock_nanoseconds();
  }
  for (const auto& variable : variables_) {
    if (variable->alive) processor_.door().release(variable->segment);
  }
  processor_.door().report(main_.info, main_.rows);
  for (const auto& [ranks, subset] : subsets_) processor_.door().report(subset->info, subset->rows);
}

std::string Core::machine_name() const {
  return info_.parent == 0 ? "the whole machine" : fmt::format("a submachine of {} processors", size());
}

void Core::set_block_bytes(std::int64_t bytes) {
  if (bytes < 1) throw MachineError(Fault::resources, fmt::format("block size {}: at least 1 byte", bytes));
  block_bytes_ = bytes;
}

void Core::bad_rank(std::int32_t rank, const char* doing) const {
  throw MachineError(Fault::bad_rank, fmt::format("rank {} {} rank {}, but {} has ranks 0 to {}", rank_, doing, rank,
                                                  machine_name(), size() - 1));
}

Core::Outgoing& Core::outgoing(std::int32_t to) {
  if (size() <= kDirectSlots) {
    if (slot_of_.empty()) slot_of_.assign(static_cast<std::size_t>(size()), -1);
    std::int32_t& slot = slot_of_[static_cast<std::size_t>(to)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(outgoing_.size());
      outgoing_.push_back({to, 0, {}});
    }
    return outgoing_[static_cast<std::size_t>(slot)];
  }
  if (outgoing_.size() <= kLinearSlots) {
    for (Outgoing& out : outgoing_) {
      if (out.to == to) return out;
    }
    outgoing_.push_back({to, 0, {}});
    if (outgoing_.size() > kLinearSlots) {
      for (std::size_t i = 0; i < outgoing_.size(); ++i) far_slot_[outgoing_[i].to] = static_cast<std::int32_t>(i);
    }
    return outgoing_.back();
  }
  const auto [found, fresh] = far_slot_.try_emplace(to, static_cast<std::int32_t>(outgoing_.size()));
  if (fresh) outgoing_.push_back({to, 0, {}});
  return outgoing_[static_cast<std::size_t>(found->second)];
}

std::byte* Core::add_entry(std::int32_t to, std::uint32_t tag, std::size_t bytes, bool counts) {
  if (bytes > 0xffffffffU) [[unlikely]] {
    throw MachineError(Fault::resources,
                       fmt::format("rank {} sends a message of {} bytes to rank {}: at most {}; split it", rank_, bytes,
                                   to, 0xffffffffU));
  }
  Outgoing& out = outgoing(to);
  const std::size_t room = sizeof(Entry) + padded(bytes);
  if (out.blocks.empty() || out.blocks.back()->payload.size() + room > static_cast<std::size_t>(block_bytes_)) {
    if (!out.blocks.empty()) processor_.door().stow(*out.blocks.back());
    out.blocks.push_back(std::make_unique<Block>());
    out.blocks.back()->from = rank_;
    out.blocks.back()->index = out.next_index++;
  }
  Block& block = *out.blocks.back();
  std::byte* const place = block.payload.extend(room);
  const Entry entry{static_cast<std::uint32_t>(bytes), tag};
  std::memcpy(place, &entry, sizeof entry);
  if (counts) ++block.messages;
  block.kinds |= kind_bit(entry.kind());
  block.information += bytes;
  ++current_.sent_messages;
  current_.sent_bytes += static_cast<std::int64_t>(bytes);
  return place + sizeof entry;
}

std::byte* Core::add_message(std::int32_t to, std::uint32_t channel, std::size_t bytes) {
  check_rank(to, "sends to");
  return add_entry(to, make_tag(EntryKind::message, channel), bytes, true);
}

void Core::ship(Meeting& meeting) {
  std::vector<Outgoing> kept;
  for (Outgoing& out : outgoing_) {
    if (!meeting.includes.empty() && !meeting.includes[static_cast<std::size_t>(out.to)]) {
      kept.push_back(std::move(out));
      continue;
    }
    current_.sent_blocks += static_cast<std::int64_t>(out.blocks.size());
    for (BlockPtr& block : out.blocks) {
      block->channel = {meeting.info.id, meeting.step, Lane::superstep};
      processor_.door().post(info_.members.at(out.to), std::move(block));
    }
  }
  if (!slot_of_.empty()) {
    for (const Outgoing& out : outgoing_) slot_of_[static_cast<std::size_t>(out.to)] = -1;
  }
  far_slot_.clear();
  outgoing_.clear();
  for (Outgoing& out : kept) {
    Outgoing& place = outgoing(out.to);
    place = std::move(out);
  }
}

void Core::check_ready(const SourceLocation& where) {
  if (processor_.deferred) throw MachineError(Fault::lost_messages, *processor_.deferred);
  if (children_ > 0) {
    throw MachineError(
        Fault::open_submachine,
        fmt::format("rank {} synchronises {} at {}:{} while its submachine is open; let it go out of scope first",
                    rank_, machine_name(), where.file_name(), where.line()));
  }
}

void Core::begin_step(Meeting&) {
  current_ = Row{};
  current_.rank = rank_;
  processor_.take_waited();
  begun_ = clock_nanoseconds();
}

/// Ends the computation part of the superstep, meets the others, and takes what they sent.
void Core::exchange(Meeting& meeting, const SourceLocation& where) {
  check_ready(where);
  current_.nanoseconds = clock_nanoseconds() - begun_ - processor_.take_waited();
  current_.step = meeting.step;
  bool asks = false;
  for (const Request& request : gets_) {
    if (!meeting.includes.empty() && !meeting.includes[static_cast<std::size_t>(request.from)]) {
      throw MachineError(
          Fault::bad_get,
          fmt::format("rank {} synchronises a subset at {}:{} with a get from rank {}, which is outside it", rank_,
                      where.file_name(), where.line(), request.from));
    }
    asks = true;
  }
  ship(meeting);
  inbox_.clear();  // now, not after the others have come: with a spill file only one processor's mail is in
                   // memory
  const Waiting why{Waiting::For::barrier, meeting.info.id, meeting.info.members.count, meeting.step, 0, 0,
                    where.file_name(),     where.line()};
  const std::uint32_t flags = processor_.door().barrier(
      *meeting.group, {meeting.step, asks ? kFlagGets : 0, meeting.member, meeting.rows}, why);
  meeting.rows.clear();
  processor_.claim({meeting.info.id, meeting.step, Lane::superstep}, inbox_);
  deliver(meeting);
  if ((flags & kFlagGets) != 0) serve_gets(meeting, why);
  apply_puts();
  meeting.rows.push_back(current_);
  ++meeting.step;
  begin_step(meeting);
}

/// Puts the inbox into its fixed order (sender, then order of sending) and accounts for it.
void Core::deliver(Meeting& meeting) {
  if (const Block* late = processor_.late(meeting.info.id, meeting.step)) {
    throw MachineError(
        Fault::lost_messages,
        fmt::format("a message of superstep {} from rank {} reached rank {} after it had ended that superstep; "
                    "its sync(expected) was told too few",
                    late->channel.step, late->from, rank_));
  }
  std::sort(inbox_.begin(), inbox_.end(), [](const BlockPtr& a, const BlockPtr& b) {
    return a->from != b->from ? a->from < b->from : a->index < b->index;
  });
  for (const BlockPtr& block : inbox_) {
    processor_.door().unstow(*block);
    ++current_.received_blocks;
    current_.received_messages += block->messages;
    current_.received_bytes += static_cast<std::int64_t>(block->information);
  }
}

void Core::sync(const SourceLocation& where) { exchange(main_, where); }

void Core::sync_expecting(std::int64_t expected, const SourceLocation& where) {
  check_ready(where);
  if (!gets_.empty()) {
    throw MachineError(Fault::sync_mismatch, fmt::format("rank {}: a get needs sync(), not sync(expected), at {}:{}",
                                                         rank_, where.file_name(), where.line()));
  }
  current_.nanoseconds = clock_nanoseconds() - begun_ - processor_.take_waited();
  current_.step = main_.step;
  ship(main_);
  inbox_.clear();
  std::int64_t have = 0;
  std::size_t counted = 0;
  for (;;) {
    processor_.claim({info_.id, main_.step, Lane::superstep}, inbox_);
    for (; counted < inbox_.size(); ++counted) have += inbox_[counted]->messages;
    if (have >= expected) break;
    processor_.await(
        {Waiting::For::messages, info_.id, size(), main_.step, have, expected, where.file_name(), where.line()});
  }
  if (have > expected) {
    throw MachineError(Fault::lost_messages,
                       fmt::format("rank {} was told to expect {} messages in superstep {} at {}:{}, but {} came",
                                   rank_, expected, main_.step, where.file_name(), where.line(), have));
  }
  deliver(main_);
  apply_puts();
  main_.rows.push_back(current_);
  ++main_.step;
  begin_step(main_);
}

void Core::sync_among(std::span<const std::int32_t> ranks, const SourceLocation& where) {
  std::vector<std::int32_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::int32_t rank : sorted) check_rank(rank, "synchronises with");
  const auto self = std::lower_bound(sorted.begin(), sorted.end(), rank_);
  if (self == sorted.end() || *self != rank_) {
    throw MachineError(Fault::sync_mismatch, fmt::format("rank {} synchronises a subset at {}:{} that it is not in",
                                                         rank_, where.file_name(), where.line()));
  }
  const std::int32_t member = static_cast<std::int32_t>(self - sorted.begin());
  auto& subset = subsets_[sorted];
  if (subset == nullptr) {
    subset = std::make_unique<Meeting>();
    std::uint64_t id = mix(info_.id, 0x5ab5e7);
    auto list = std::make_shared<std::vector<std::int32_t>>();
    subset->includes.resize(static_cast<std::size_t>(size()));
    for (const std::int32_t rank : sorted) {
      id = mix(id, static_cast<std::uint64_t>(rank));
      list->push_back(info_.members.at(rank));
      subset->includes[static_cast<std::size_t>(rank)] = true;
    }
    subset->info = {id, info_.id, kSubsetSplit, {list->front(), static_cast<std::int32_t>(list->size()), list}};
    subset->member = member;
    subset->group = processor_.door().open(subset->info);
  }
  exchange(*subset, where);
}

std::shared_ptr<Core> Core::split(const std::shared_ptr<Core>& self, std::int32_t first, std::int32_t count) {
  Core& core = *self;
  GroupInfo info;
  info.split = ++core.splits_;
  info.id = mix(mix(core.info_.id, info.split), static_cast<std::uint64_t>(first));
  info.parent = core.info_.id;
  info.members.count = count;
  if (core.info_.members.list) {
    const auto begin = core.info_.members.list->begin() + first;
    info.members.list = std::make_shared<std::vector<std::int32_t>>(begin, begin + count);
  }
  info.members.first = core.info_.members.at(first);
  return std::make_shared<Core>(core.processor_, std::move(info), core.rank_ - first, self);
}

std::shared_ptr<Core> Core::split(const std::shared_ptr<Core>& self, std::vector<std::int32_t> ranks) {
  Core& core = *self;
  GroupInfo info;
  info.split = ++core.splits_;
  info.parent = core.info_.id;
  info.id = mix(core.info_.id, info.split);
  std::int32_t index = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == core.rank_) index = static_cast<std::int32_t>(i);
    ranks[i] = core.info_.members.at(ranks[i]);
    info.id = mix(info.id, static_cast<std::uint64_t>(ranks[i]));
  }
  info.members.first = ranks.front();
  info.members.count = static_cast<std::int32_t>(ranks.size());
  info.members.list = std::make_shared<std::vector<std::int32_t>>(std::move(ranks));
  return std::make_shared<Core>(core.processor_, std::move(info), index, self);
}

void Core::finish() {
  if (processor_.deferred) throw MachineError(Fault::lost_messages, *processor_.deferred);
  if (!outgoing_.empty() || !gets_.empty()) {
    throw MachineError(Fault::lost_messages,
                       fmt::format("the program of rank {} ended with messages or gets that no sync delivered", rank_));
  }
}

}  // namespace chasqui::bsp::detail
