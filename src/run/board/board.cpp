// SPDX-License-Identifier: MIT
#include "run/board/board.hpp"

#include <algorithm>
#include <bit>

#include "chasqui/base/error.hpp"

namespace chasqui::run {
namespace {

/// Bytes beside the lines that are taken for writing at once when a call ends: whoever takes more waits for them.
constexpr std::size_t kOwnedAtEnd = 1024;

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

BoardShape BoardShape::for_ranks(int ranks, std::size_t stage, std::size_t wide) {
  BoardShape shape;
  shape.ranks = ranks;
  shape.stage = stage;
  shape.wide = wide;
  const auto all = [&] { return shape.stage * static_cast<std::size_t>(ranks); };
  while (shape.stage > 256 * 1024 && all() > (std::size_t{16} << 20)) shape.stage /= 2;
  while (shape.stage > kLeastStage && all() > (std::size_t{64} << 20)) shape.stage /= 2;
  while (shape.wide > 0 && shape.wide * kSlotRing * static_cast<std::size_t>(ranks) > (std::size_t{8} << 20)) {
    shape.wide = shape.wide > 256 ? shape.wide / 2 : 0;
  }
  return shape;
}

BoardShape BoardShape::for_threads(int ranks) { return for_ranks(ranks, kLine, kShortWide); }

BoardShape BoardShape::for_slots(int ranks) { return for_ranks(ranks, kLeastStage, kShortWide); }

BoardShape BoardShape::for_lines(int ranks) {
  BoardShape shape = for_ranks(ranks, 4 * kLine, 0);  // elements may have a quarter of it
  shape.dense = true;
  return shape;
}

std::size_t BoardShape::zeroed() const {
  const auto n = static_cast<std::size_t>(ranks);
  return round_up(sizeof(NoticeWords), 128) + n * (sizeof(Counters) + sizeof(Board::Calls)) +
         SlotLines::line_bytes(*this);
}

std::size_t BoardShape::bytes() const {
  const auto n = static_cast<std::size_t>(ranks);
  return zeroed() + kSlotRing * n * (wide + kLine) + 4096 + n * stage_room();
}

Board::Board(void* memory, const BoardShape& shape, int rank, int cores)
    : shape_(shape), rank_(rank), crowded_(shape.ranks > cores), looks_(crowded_) {
  CHASQUI_CHECK(rank >= 0 && rank < shape.ranks, "rank={} ranks={}", rank, shape.ranks);
  CHASQUI_CHECK(reinterpret_cast<std::uintptr_t>(memory) % kLine == 0, "memory={}", memory);
  CHASQUI_CHECK(shape.stage % kLine == 0 && shape.stage > 0, "stage={}", shape.stage);
  auto* at = static_cast<std::byte*>(memory);
  const auto n = static_cast<std::size_t>(shape.ranks);
  words_ = reinterpret_cast<NoticeWords*>(at);
  at += round_up(sizeof(NoticeWords), 128);
  counters_ = reinterpret_cast<Counters*>(at);
  own_ = counters_ + rank;
  at += n * sizeof(Counters);
  calls_ = reinterpret_cast<Calls*>(at);
  at += n * sizeof(Calls);
  lines_ = SlotLines(at, shape, rank);
  at += SlotLines::bytes(shape);
  auto* const stages = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(at), 4096));
  notice_ = Notice(words_, counters_, shape.ranks, rank);
  buffers_ = BufferUse(&words_->withdrawn, counters_, shape.ranks, rank, crowded_);
  core_ = OwnCore(counters_, shape.ranks, rank);
  done_ = Reached(counters_, &Counters::done, shape.ranks, rank);
  stages_ = Stages(stages, shape.stage_room(), counters_, shape.ranks, rank);
}

void Board::arrange(const BoardGroups& groups) {
  for (const int lines : {1, 2, shape_.lines()}) {
    const int sets = groups.climb(lines).sets(), most = line_sets(lines, shape_.lines() > 2);
    CHASQUI_CHECK(groups.climb(lines).none() || sets <= most, "{} lines, sets={} of {}", lines, sets, most);
  }
  groups_ = OwnGroups(groups, shape_.ranks, rank_, shape_.near);
}

/// Of more than a line.
void Board::read_more(int slot, void* data, std::size_t bytes) const {
  if (bytes > kSlotPayload) {
    std::memcpy(data, wide(slot), bytes);
    return;
  }
  std::memcpy(data, payload(slot, Place::first), kLinePayload);
  std::memcpy(static_cast<std::byte*>(data) + kLinePayload, payload(slot, Place::second), bytes - kLinePayload);
}

void Board::read_part(int slot, std::size_t all, std::size_t offset, void* data, std::size_t bytes) const {
  if (all > kSlotPayload) {
    std::memcpy(data, wide(slot) + offset, bytes);
    return;
  }
  std::byte whole[kSlotPayload];
  read(slot, whole, all);
  std::memcpy(data, whole + offset, bytes);
}

/// Of more than a line: all that the first line does not hold. The rest is for that.
std::size_t Board::publish_more(int slot, const void* data, std::size_t bytes) {
  if (bytes > kSlotPayload) {
    if (bytes <= kShortWide) std::memcpy(wide(slot), data, bytes);
    else copy_ahead(wide(slot), static_cast<const std::byte*>(data), bytes);
    uses_wide(bytes);
    return 0;
  }
  publish_line(slot, Place::second, static_cast<const std::byte*>(data) + kLinePayload, bytes - kLinePayload);
  return kLinePayload;
}

void Board::publish_lines(Place from, const std::byte* data, int lines, std::size_t each, std::size_t last) {
  const SlotLines::Cells cells = lines_.cells(from);
  for (int part = lines; part-- > 0; last = each)
    write(*cells.at(rank_, part), data + static_cast<std::size_t>(part) * each, last);
  if (from != Place::first || lines > 1) uses_lines(from, lines);
}

void Board::own_more() {
  if ((more_lines_ & kWideBit) != 0) own_lines(lines_.own_wide(sequence_ + 1), std::min(owned_wide_, kOwnedAtEnd));
  for (std::uint64_t left = more_lines_ & ~kWideBit; left != 0; left &= left - 1)
    ask_to_write_line(lines_.own_line(sequence_ + 1, static_cast<Place>(std::countr_zero(left))));
  if (sequence_ >= more_lines_until_) more_lines_ = 0;
}

void Board::own_rest(std::size_t most) {
  const std::size_t bytes = std::min(owned_wide_, most);
  if ((more_lines_ & kWideBit) != 0 && bytes > kOwnedAtEnd)
    own_lines(lines_.own_wide(sequence_ + 1) + kOwnedAtEnd, bytes - kOwnedAtEnd);
}

void Board::change_to(const Signature& call) {
  calls_[rank_].noted.note(sequence_, call);
  call_ = call;
  word_ = call.word();
}

Signature Board::named(Signature call) const {
  if (has_root(call.kind()) && (call.what & Signature::kOfCommunicator) == 0)
    call.what = (call.what & 0xff) | static_cast<std::uint64_t>(name(static_cast<int>(call.root()))) << 8;
  return call;
}

void Board::compare_calls(std::uint64_t& seen) const {
  for (int r = 0; r < shape_.ranks; ++r) {
    // Nobody tells that it goes on with the calls that it made before: what is certain is what it has finished or changed.
    const CallHistory& theirs = calls_[r].noted;
    const std::uint64_t begun = std::max(done(r).load(std::memory_order_acquire), theirs.latest_change());
    seen = std::min(begun, sequence_);
    if (!agree(theirs.find(seen), calls().find(seen))) disagree(r);
    if (elsewhere(r) <= elsewhere(rank_) || done(r).load(std::memory_order_acquire) >= sequence_) continue;
    seen = sequence_;
    throw_gone_elsewhere(r, rank_);
  }
}

std::uint64_t Board::complete() const {
  std::uint64_t last = 0;
  for (int r = 0; r < shape_.ranks; ++r) last = std::max(last, done(r).load(std::memory_order_acquire));
  return last;
}

std::uint64_t Board::astray(std::uint64_t number) const {
  if (astray_ != 0 || !notice_.broken() || number != notice_.first()) return astray_;
  return std::max(elsewhere(rank_), notice_.elsewhere()) - notice_.elsewhere();
}

void Board::throw_gone_elsewhere(int gone, int here) const {
  throw Error(
      "rank {} makes a call as {} that went another way on rank {}: all ranks must make the same calls with the same sizes",
      name(here), to_text(named(calls_[here].noted.find(sequence_))), name(gone));
}

void Board::disagree(int other) const {
  const std::uint64_t mine = elsewhere(rank_), others = elsewhere(other);
  if (mine != others && line(other, Place::first)->header.load() >> kSignBits == sequence_) {
    if (mine < others) throw_gone_elsewhere(other, rank_);
    astray_ = mine - others;
    throw_gone_elsewhere(rank_, other);
  }
  const int me = name(rank_), they = name(other);
  const CallHistory& theirs = calls_[other].noted;
  std::vector<std::uint64_t> changes = calls().changes();
  for (const std::uint64_t number : theirs.changes()) changes.push_back(number);
  std::sort(changes.begin(), changes.end());
  for (const std::uint64_t number : changes) {
    const Signature my_call = calls().find(number), their_call = theirs.find(number);
    if (number > sequence_ || agree(my_call, their_call)) continue;
    throw Error("{}",
                disagreement(me, named(my_call), they, named(their_call),
                             fmt::format("call {} of this {}", number, names_.empty() ? "communicator" : "node")));
  }
  throw Error("ranks {} and {} have not made the same calls with the same sizes, in the same order", me, they);
}

}  // namespace chasqui::run
