// SPDX-License-Identifier: MIT
#include "bsp/mpi/inbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace chasqui::bsp::detail {

void MpiInbox::sort_in(Buffer& message) {
  bool of_program = false;
  for_each_record(message.view(), [&](const RecordHead& head, std::span<const std::byte> bytes, std::size_t begin) {
    switch (head.record) {
      case Record::block: sort_in_block(head, bytes, begin, message); break;
      case Record::lent: {
        std::uint64_t offset = head.information;
        add(store_->receive(offset));
        if (head.counted != 0) ++counted_[head.channel];
        break;
      }
      case Record::arrival: {
        ArrivalRecord& arrived = arrivals_[head.channel.group][head.from].emplace_back();
        arrived.head = head;
        if (!bytes.empty()) std::memcpy(arrived.bytes.extend(bytes.size()), bytes.data(), bytes.size());
        break;
      }
      case Record::probe:
      case Record::status:
      case Record::abort:
      case Record::goodbye: hear_(head, bytes); return;
    }
    of_program = true;
  });
  if (of_program) ++messages_;
}

void MpiInbox::sort_in_block(const RecordHead& head, std::span<const std::byte> bytes, std::size_t begin,
                             Buffer& message) {
  auto block = std::make_unique<Block>();
  block->channel = head.channel;
  block->from = head.from;
  block->index = head.index;
  block->messages = head.messages;
  block->kinds = head.flags;
  if (head.counted != 0) ++counted_[head.channel];
  block->information = head.information;
  if (begin == 0 && bytes.size() >= kLargeBlock) {  // the last to be looked at
    std::swap(block->payload, message);
    block->payload.resize(bytes.size());
  } else if (!bytes.empty()) {
    std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
  }
  // A ledger is not for the program, which may still be running here.
  if (block->channel.lane != Lane::ledger) return add(std::move(block));
  ledgers_.push_back(std::move(block));
  ++ledger_parts_;
}

bool MpiInbox::all_counted(const Channel& channel, std::uint64_t blocks) {
  const auto found = counted_.find(channel);
  if (found == counted_.end() || found->second < blocks) return false;
  counted_.erase(found);
  return true;
}

bool MpiInbox::has_ledger_of(std::int32_t from) const {
  return std::ranges::any_of(ledgers_, [&](const BlockPtr& block) { return block->from == from; });
}

BlockPtr MpiInbox::take_ledger_of(std::int32_t from) {
  const auto found = std::ranges::find_if(ledgers_, [&](const BlockPtr& block) { return block->from == from; });
  BlockPtr block = std::move(*found);
  ledgers_.erase(found);
  return block;
}

}  // namespace chasqui::bsp::detail
