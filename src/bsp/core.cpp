// SPDX-License-Identifier: MIT
// Messages and supersteps of one processor in one machine.
#include "chasqui/bsp/detail/core.hpp"

#include <algorithm>
#include <cstring>

#include "bsp/engines.hpp"
#include "bsp/hash.hpp"
#include "bsp/ticks.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::int32_t kDirectPlaces = 1024;  ///< machines up to this size find a destination by index
constexpr std::size_t kLinearPlaces = 8;      ///< larger ones search this many before they hash
constexpr std::uint32_t kFlagGets = 1;
constexpr std::size_t kCalled = 48 * 1024;  ///< bytes asked for at once, of all that arrived: a first-level cache
constexpr std::size_t kCalledOfOne = 4096;  ///< of one block

/// Everybody reads what arrived in the order of senders. So that not all ask the first sender's core at the same time, and then the
/// next one's, each begins to ask with another.
void call_in(const Blocks& arrived, std::int32_t rank) {
  const std::size_t blocks = arrived.size(), each = std::min(kCalled / blocks, kCalledOfOne);
  for (std::size_t i = 1; i <= blocks; ++i)
    arrived[(static_cast<std::size_t>(rank) + i) % blocks]->payload.prefetch(each);
}

}  // namespace

Core::Core(Processor& processor, GroupInfo info, std::int32_t rank, std::shared_ptr<Core> parent)
    : processor_(processor), rank_(rank), places_(processor.nest()), outgoing_(processor.nest()),
      inbox_(processor.nest()), main_(processor.nest()), parent_(std::move(parent)) {
  block_bytes_ = parent_ ? parent_->block_bytes_ : processor_.door().options().block_bytes;
  if (block_bytes_ <= 0) block_bytes_ = default_block_bytes();
  main_.member = rank_;
  main_.group = processor_.door().open(info);
  if (parent_) ++parent_->children_;
  outgoing_.reserve(1);
  current_.rank = rank_;
  processor_.take_waited();
  begun_ = main_.released = Ticks::now();
}

Core::~Core() {
  try {
    processor_.door().report(*main_.group, main_.rows);
    if (rare_ != nullptr) {
      for (const auto& [ranks, subset] : rare_->subsets) processor_.door().report(*subset->group, subset->rows);
    }
    if (parent_ && !nothing_left()) {
      throw MachineError(
          Fault::lost_messages,
          fmt::format("rank {} left {} with messages or gets that no sync delivered; sync before joining",
                      parent_->rank_, machine_name()));
    }
  } catch (...) {
    processor_.deferred = std::current_exception();
  }
  if (rare_ != nullptr) {
    for (const auto& variable : rare_->variables) {
      if (variable->alive) processor_.door().release(variable->segment);
    }
  }
  if (!parent_) return;
  --parent_->children_;
  parent_->begun_ = Ticks::now();
}

std::string Core::machine_name() const {
  return main_.info().parent == 0 ? "the whole machine" : fmt::format("a submachine of {} processors", size());
}

void Core::set_block_bytes(std::int64_t bytes) {
  if (bytes < 1) throw MachineError(Fault::resources, fmt::format("block size {}: at least 1 byte", bytes));
  block_bytes_ = bytes;
  for (Place& place : places_) place.last = nullptr;
}

void Core::bad_rank(std::int32_t rank, const char* doing) const {
  throw MachineError(Fault::bad_rank, fmt::format("rank {} {} rank {}, but {} has ranks 0 to {}", rank_, doing, rank,
                                                  machine_name(), size() - 1));
}

Core::Outgoing& Core::add_outgoing(std::int32_t to, std::size_t place) {
  if (places_.size() <= place) places_.resize(place + 1);
  Outgoing& added = outgoing_.emplace_back();
  added.to = to;
  added.place = place;
  places_[place].outgoing = outgoing_.size();
  return added;
}

Core::Outgoing& Core::outgoing(std::int32_t to) {
  if (size() <= kDirectPlaces) {
    if (direct_ == 0) {
      places_.resize(static_cast<std::size_t>(size()));
      direct_ = static_cast<std::uint32_t>(size());
    }
    const auto place = static_cast<std::size_t>(to);
    const std::uint64_t known = places_[place].outgoing;
    return known == 0 ? add_outgoing(to, place) : outgoing_[known - 1];
  }
  if (outgoing_.size() < kLinearPlaces) {
    for (Outgoing& one : outgoing_) {
      if (one.to == to) return one;
    }
    return add_outgoing(to, outgoing_.size());
  }
  auto& far_slot = rare().far_slot;
  if (far_slot.empty()) {
    for (std::size_t i = 0; i < outgoing_.size(); ++i) far_slot[outgoing_[i].to] = static_cast<std::uint32_t>(i);
  }
  const auto [known, fresh] = far_slot.try_emplace(to, static_cast<std::uint32_t>(outgoing_.size()));
  return fresh ? add_outgoing(to, outgoing_.size()) : outgoing_[known->second];
}

/// The room grows twofold up to the size of a block, which only a message that is larger alone exceeds.
void Core::make_room(Place& place, Outgoing& out, std::size_t head, std::size_t bytes) {
  Buffer& room = out.open->payload;
  const auto used = static_cast<std::size_t>(place.at - room.data());
  const std::size_t then = used + head + bytes;
  const auto most = std::max(then, static_cast<std::size_t>(block_bytes_));
  if (then > room.capacity()) room.reserve(std::clamp(2 * room.capacity(), then, most));
  place.at = room.data() + used;
  place.last = room.data() + std::min(std::min(room.capacity(), most), used + kMostBytes) - bytes;
}

/// A message unlike the one before it, or one that finds its block full.
std::byte* Core::add_first(std::int32_t to, std::uint32_t tag, std::size_t bytes) {
  check_rank(to, "sends to");
  if (bytes > kMostBytes) {
    throw MachineError(Fault::resources,
                       fmt::format("rank {} sends a message of {} bytes to rank {}: at most {}; split it", rank_, bytes,
                                   to, kMostBytes));
  }
  Outgoing& out = outgoing(to);
  Place& place = places_[out.place];
  if (out.open != nullptr) {
    const auto used = static_cast<std::size_t>(place.at - out.open->payload.data());
    const bool same = place.like == like(tag, bytes);
    const std::size_t then = same ? used + bytes : padded(used) + sizeof(Run) + bytes;
    if (then > static_cast<std::size_t>(block_bytes_)) end_block(out);
    else if (!same) end_run(out);
  }
  if (out.open == nullptr) {
    out.open = processor_.fresh(main_.info().members.at(to));
    out.open->from = rank_;
    out.open->index = out.next_index++;
    place.at = out.open->payload.data();
  }
  if (place.like == kUnlike) {
    make_room(place, out, sizeof(Run), bytes);
    out.run = static_cast<std::size_t>(place.at - out.open->payload.data());
    const Run run{tag, static_cast<std::uint32_t>(bytes), 1};
    std::memcpy(place.at, &run, sizeof run);
    place.at += sizeof run;
    place.like = like(tag, bytes);
  } else {
    make_room(place, out, 0, bytes);
  }
  std::byte* const begin = std::exchange(place.at, place.at + bytes);
  if (bytes == 0) end_run(out);  // nothing moves: each has a run of its own
  return begin;
}

void Core::end_run(Outgoing& out) {
  Place& place = places_[out.place];
  if (place.like == kUnlike) return;
  Block& block = *out.open;
  Run run;
  std::memcpy(&run, block.payload.data() + out.run, sizeof run);
  const auto used = static_cast<std::size_t>(place.at - block.payload.data());
  if (const std::size_t bytes = used - out.run - sizeof run; bytes != run.bytes) run.count = bytes / run.bytes;
  std::memcpy(block.payload.data() + out.run, &run, sizeof run);
  block.messages += run.count;
  block.information += run.count * run.bytes;
  block.kinds |= kind_bit(run.kind());
  place.like = kUnlike;
  block.payload.resize(used);
  if (padded(used) != used) block.payload.extend(padded(used) - used);
  place.at = block.payload.data() + block.payload.size();
}

void Core::end_block(Outgoing& out) {
  end_run(out);
  if (processor_.spills()) processor_.door().stow(*out.open);
  out.full.push_back(std::move(out.open));
}

void Core::pack_some(Meeting& meeting) {
  std::vector<Outgoing> kept;
  for (Outgoing& out : outgoing_) {
    const std::int32_t member = meeting.member_of(out.to);
    if (member < 0) {
      end_run(out);
      places_[out.place] = {};
      kept.push_back(std::move(out));
      continue;
    }
    end_block(out);
    places_[out.place] = {};
    for (Block* block = out.full.first(); block != nullptr; block = block->next) {
      block->channel = {meeting.info().id, meeting.step, Lane::superstep};
      ++current_.sent_blocks;
      current_.sent_messages += static_cast<std::int64_t>(block->messages);
      current_.sent_bytes += static_cast<std::int64_t>(block->information);
    }
    meeting.parcels.push_back({member, std::move(out.full)});
  }
  if (rare_ != nullptr) rare_->far_slot.clear();
  outgoing_.clear();
  for (Outgoing& old : kept) {
    Outgoing& out = outgoing(old.to);
    out.open = std::move(old.open);
    out.full = std::move(old.full);
    out.next_index = old.next_index;
    places_[out.place].at = out.open->payload.data() + out.open->payload.size();
  }
}

void Core::not_ready(const SourceLocation& where) const {
  if (processor_.deferred != nullptr) std::rethrow_exception(processor_.deferred);
  throw MachineError(
      Fault::open_submachine,
      fmt::format("rank {} synchronises {} at {}:{} while its submachine is open; let it go out of scope first", rank_,
                  machine_name(), where.file_name(), where.line()));
}

void Core::check_gets(const Meeting& meeting, const SourceLocation& where) const {
  for (const Request& request : rare_->gets) {
    if (meeting.member_of(request.from) >= 0) continue;
    throw MachineError(
        Fault::bad_get,
        fmt::format("rank {} synchronises a subset at {}:{} with a get from rank {}, which is outside it", rank_,
                    where.file_name(), where.line(), request.from));
  }
}

/// Books the superstep and begins the next. together: everybody ended it.
void Core::end_step(Meeting& meeting, bool together) {
  begun_ = Ticks::now();
  std::int64_t span = 0;
  if (together && meeting.member == 0) span = Ticks::nanoseconds(begun_ - std::exchange(meeting.released, begun_));
  if (!processor_.door().book(*meeting.group, current_, span)) meeting.rows.push_back({current_, span});
  ++meeting.step;
  current_ = Row{};
  current_.rank = rank_;
  processor_.take_waited();
}

Waiting Core::waits_for(const Meeting& meeting, const SourceLocation& where) const {
  return {Waiting::For::barrier, meeting.info().id, meeting.info().members.count, meeting.step, 0, 0,
          where.file_name(),     where.line()};
}

/// Ends the computation part of the superstep.
Arrival Core::bring(Meeting& meeting) {
  current_.nanoseconds = Ticks::nanoseconds(Ticks::now() - begun_) - processor_.take_waited();
  current_.step = meeting.step;
  pack(meeting);
  // Now, not after the others have come: with a spill file only one processor's mail is in memory.
  if (!inbox_.empty()) processor_.recycle(inbox_);
  return {meeting.step, any_gets() ? kFlagGets : 0, meeting.member, meeting.rows, Lane::superstep, nullptr};
}

/// Takes what the others sent.
void Core::take_in(Meeting& meeting) {
  if (!meeting.rows.empty()) meeting.rows.clear();
  processor_.claim({meeting.info().id, meeting.step, Lane::superstep}, inbox_);
  if (!inbox_.empty() || processor_.any_early()) deliver(meeting);
}

/// Ends the computation part of the superstep, meets the others, and takes what they sent.
void Core::exchange(Meeting& meeting, const SourceLocation& where) {
  check_ready(where);
  if (any_gets()) [[unlikely]]
    check_gets(meeting, where);
  return processor_.ends() ? exchange_elsewhere(meeting, where) : exchange_here(meeting, where);
}

void Core::exchange_here(Meeting& meeting, const SourceLocation& where) {
  Arrival arrival = bring(meeting);
  const Waiting why = waits_for(meeting, where);
  Idle idle{current_.nanoseconds, current_.work, meeting.released};
  if (meeting.parcels.empty() && !any_gets() && (current_.sent_blocks | current_.received_blocks) == 0)
    arrival.idle = &idle;
  const std::uint32_t flags = processor_.door().meet(*meeting.group, arrival, meeting.parcels, inbox_, why);
  take_in(meeting);
  if ((flags & kAllIdle) != 0) {
    begun_ = meeting.released = idle.released;
    ++meeting.step;
    current_.work = 0;
    processor_.take_waited();
    return;
  }
  if ((flags & kFlagGets) != 0) serve_gets(meeting, why);
  apply_puts();
  end_step(meeting, true);
}

/// What gets ask for is served by the processor itself: it meets the others a second time.
class Core::SuperstepEnd final : public Ending {
 public:
  SuperstepEnd(Core& core, Meeting& meeting, const SourceLocation& where)
      : Ending(*meeting.group, core.inbox_), core_(core), meeting_(meeting), where_(where) {}

  Arrival before(std::span<Parcel>& parcels) override {
    const Arrival arrival = core_.bring(meeting_);
    parcels = meeting_.parcels;
    return arrival;
  }
  void after(std::uint32_t flags) override {
    core_.take_in(meeting_);
    asked_ = (flags & kFlagGets) != 0;
    if (!asked_) finish();
  }
  Waiting why() const override { return core_.waits_for(meeting_, where_); }
  bool asked() const { return asked_; }
  void finish() {
    core_.apply_puts();
    core_.end_step(meeting_, true);
  }

 private:
  Core& core_;
  Meeting& meeting_;
  const SourceLocation& where_;
  bool asked_ = false;
};

/// The same with little on this processor's stack.
void Core::exchange_elsewhere(Meeting& meeting, const SourceLocation& where) {
  SuperstepEnd end(*this, meeting, where);
  processor_.door().end(end);
  if (end.failure != nullptr) [[unlikely]]
    std::rethrow_exception(end.failure);
  if (!end.asked()) return;
  serve_gets(meeting, end.why());
  end.finish();
}

/// Puts the inbox into its fixed order (sender, then order of sending) and accounts for it.
void Core::deliver(Meeting& meeting) {
  if (const Block* late = processor_.late(meeting.info().id, meeting.step)) {
    throw MachineError(
        Fault::lost_messages,
        fmt::format("a message of superstep {} from rank {} reached rank {} after it had ended that superstep; "
                    "its sync(expected) was told too few",
                    late->channel.step, late->from, rank_));
  }
  const auto before = [](const BlockPtr& a, const BlockPtr& b) {
    return a->from != b->from ? a->from < b->from : a->index < b->index;
  };
  if (!std::is_sorted(inbox_.begin(), inbox_.end(), before)) std::sort(inbox_.begin(), inbox_.end(), before);
  if (inbox_.size() > 2) call_in(inbox_, rank_);
  else if (!inbox_.empty()) inbox_.front()->payload.prefetch();
  for (const BlockPtr& block : inbox_) {
    if (processor_.spills()) processor_.door().unstow(*block);
    ++current_.received_blocks;
    current_.received_messages += static_cast<std::int64_t>(block->messages);
    current_.received_bytes += static_cast<std::int64_t>(block->information);
  }
}

Ledger Core::ledger() {
  Ledger ledger = processor_.door().ledger();
  const Core* whole = this;
  while (whole->parent_) whole = whole->parent_.get();
  std::vector<Superstep>& steps = ledger.machines.front().supersteps;
  if (steps.size() < whole->step()) steps.resize(whole->step());  // not everybody has reported the last one
  return ledger;
}

void Core::sync(const SourceLocation& where) { exchange(main_, where); }

void Core::sync_expecting(std::int64_t expected, const SourceLocation& where) {
  check_ready(where);
  if (any_gets()) {
    throw MachineError(Fault::sync_mismatch, fmt::format("rank {}: a get needs sync(), not sync(expected), at {}:{}",
                                                         rank_, where.file_name(), where.line()));
  }
  current_.nanoseconds = Ticks::nanoseconds(Ticks::now() - begun_) - processor_.take_waited();
  current_.step = main_.step;
  for (Parcel& parcel : pack(main_)) {
    for (Block* block = parcel.blocks.release(); block != nullptr;) {
      BlockPtr one(std::exchange(block, block->next));
      processor_.door().post(main_.info().members.at(parcel.to), std::move(one));
    }
  }
  processor_.recycle(inbox_);
  std::int64_t have = 0;
  std::size_t counted = 0;
  for (;;) {
    processor_.claim({main_.info().id, main_.step, Lane::superstep}, inbox_);
    for (; counted < inbox_.size(); ++counted) have += static_cast<std::int64_t>(inbox_[counted]->messages);
    if (have >= expected) break;
    processor_.await(
        {Waiting::For::messages, main_.info().id, size(), main_.step, have, expected, where.file_name(), where.line()});
  }
  if (have > expected) {
    throw MachineError(Fault::lost_messages,
                       fmt::format("rank {} was told to expect {} messages in superstep {} at {}:{}, but {} came",
                                   rank_, expected, main_.step, where.file_name(), where.line(), have));
  }
  deliver(main_);
  apply_puts();
  end_step(main_, false);
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
  auto& subsets = rare().subsets;
  auto known = subsets.find(sorted);
  if (known == subsets.end()) {
    auto subset = std::make_unique<Meeting>(processor_.nest());
    std::uint64_t id = mix(main_.info().id, 0x5ab5e7);
    auto list = std::make_shared<std::vector<std::int32_t>>();
    auto members = std::make_unique<std::vector<std::int32_t>>(static_cast<std::size_t>(size()), -1);
    for (const std::int32_t rank : sorted) {
      id = mix(id, static_cast<std::uint64_t>(rank));
      list->push_back(main_.info().members.at(rank));
      (*members)[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(list->size()) - 1;
    }
    subset->members = std::move(members);
    subset->member = member;
    subset->released = Ticks::now();
    subset->group = processor_.door().open(
        {id, main_.info().id, kSubsetSplit, {list->front(), static_cast<std::int32_t>(list->size()), list}});
    known = subsets.emplace(std::move(sorted), std::move(subset)).first;
  }
  exchange(*known->second, where);
}

std::shared_ptr<Core> Core::split(const std::shared_ptr<Core>& self, std::int32_t first, std::int32_t count) {
  Core& core = *self;
  GroupInfo info;
  info.split = ++core.splits_;
  info.id = mix(mix(core.main_.info().id, info.split), static_cast<std::uint64_t>(first));
  info.parent = core.main_.info().id;
  info.members.count = count;
  if (core.main_.info().members.list) {
    const auto begin = core.main_.info().members.list->begin() + first;
    info.members.list = std::make_shared<std::vector<std::int32_t>>(begin, begin + count);
  }
  info.members.first = core.main_.info().members.at(first);
  return std::make_shared<Core>(core.processor_, std::move(info), core.rank_ - first, self);
}

std::shared_ptr<Core> Core::split(const std::shared_ptr<Core>& self, std::vector<std::int32_t> ranks) {
  Core& core = *self;
  GroupInfo info;
  info.split = ++core.splits_;
  info.parent = core.main_.info().id;
  info.id = mix(core.main_.info().id, info.split);
  std::int32_t index = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == core.rank_) index = static_cast<std::int32_t>(i);
    ranks[i] = core.main_.info().members.at(ranks[i]);
    info.id = mix(info.id, static_cast<std::uint64_t>(ranks[i]));
  }
  info.members.first = ranks.front();
  info.members.count = static_cast<std::int32_t>(ranks.size());
  info.members.list = std::make_shared<std::vector<std::int32_t>>(std::move(ranks));
  return std::make_shared<Core>(core.processor_, std::move(info), index, self);
}

void Core::finish() {
  if (processor_.deferred != nullptr) std::rethrow_exception(processor_.deferred);
  if (!nothing_left()) {
    throw MachineError(Fault::lost_messages,
                       fmt::format("the program of rank {} ended with messages or gets that no sync delivered", rank_));
  }
}

}  // namespace chasqui::bsp::detail
