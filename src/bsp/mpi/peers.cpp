// SPDX-License-Identifier: MIT
#include "bsp/mpi/peers.hpp"

#include <cstring>

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kFullMessage = std::size_t{64} * 1024;  ///< bytes that are sent before there is more

}  // namespace

MpiPeers::MpiPeers(std::int32_t rank, std::int32_t size)
    : rank_(rank), size_(size), fate_(rank), mail_(fate_, size),
      inbox_([this](const RecordHead& head, std::span<const std::byte> bytes) { hear(head, bytes); }), waves_(size) {}

void MpiPeers::pack_in(MpiRooms& rooms) {
  rooms_ = &rooms;
  inbox_.reads(rooms.store());
}

void MpiPeers::post(std::int32_t to, BlockPtr block, bool counted) {
  fate_.throw_if_failed();
  if (to == rank_) return inbox_.add(std::move(block));
  Buffer& out = mail_.out(to);
  if (block->payload.borrowed()) {
    RecordHead head;
    head.record = Record::lent;
    head.channel = block->channel;
    head.counted = counted ? 1 : 0;
    std::byte* const end = out.extend(sizeof head);
    head.information = rooms_->send(to, std::move(block), 0);
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
  if (out.empty() && block->payload.size() >= kLargeBlock) {
    const std::size_t bytes = block->payload.size();
    std::swap(out, block->payload);
    append_head(out, head, bytes);
  } else {
    append(out, head, block->payload.view());
  }
  if (out.size() >= kFullMessage) mail_.flush(to);
}

Block* MpiPeers::take() {
  if (std::exchange(all_in_, false) && ++unseen_ % kUnseen != 0) return inbox_.take_blocks();
  while (progress()) {
  }
  return inbox_.take_blocks();
}

bool MpiPeers::progress() {
  std::optional<Buffer> message = mail_.next();
  if (!message) return false;
  try {
    inbox_.sort_in(*message);
  } catch (const std::exception& error) {
    if (fate_.ending() && !fate_.failed()) fate_.end_job(error.what());
    throw;
  }
  mail_.keep(std::move(*message));
  return true;
}

void MpiPeers::hear(const RecordHead& head, std::span<const std::byte> bytes) {
  switch (head.record) {
    case Record::probe: probe_ = head.index; break;
    case Record::status: waves_.hear(head.from, head.index, unpack_status(bytes)); break;
    case Record::abort:
      told_why_ = true;
      fate_.fail(static_cast<Fault>(head.index), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      break;
    case Record::goodbye: ++goodbyes_; break;
    case Record::block:
    case Record::lent:
    case Record::arrival: break;  // of the program
  }
}

void MpiPeers::tell_all(const RecordHead& head, std::span<const std::byte> bytes) {
  for (std::int32_t to = 0; to < size_; ++to) {
    if (to != rank_) mail_.send_uncounted(to, head, bytes);
  }
}

RankStatus MpiPeers::status(const Waiting& why) const {
  return {mail_.sent() + shown_, inbox_.messages() + shown_, why, why.file};
}

void MpiPeers::answer_probe(const Waiting& why) {
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
void MpiPeers::look_for_deadlock(const Waiting& why) {
  switch (waves_.look(status(why))) {
    case DeadlockWaves::Found::nothing: return;
    case DeadlockWaves::Found::deadlock: {
      const MachineError report = waves_.report();
      fate_.fail(report.fault(), report.text());  // end_badly() tells the others
      return;
    }
    case DeadlockWaves::Found::question: break;
  }
  RecordHead head;
  head.record = Record::probe;
  head.index = waves_.number();
  tell_all(head, {});
}

}  // namespace chasqui::bsp::detail
