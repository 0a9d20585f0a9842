// SPDX-License-Identifier: MIT
#include "threads/channels.hpp"

#include <algorithm>
#include <cstring>

#include "chasqui/base/error.hpp"
#include "run/wait/backoff.hpp"

namespace chasqui::threads {

ChannelMemory::Channel& ChannelMemory::channel(int from, int to) {
  const std::lock_guard lock(making_);
  Row& row = rows_[static_cast<std::size_t>(from)];
  if (row.empty()) row.resize(static_cast<std::size_t>(ranks_));
  auto& made = row[static_cast<std::size_t>(to)];
  if (made == nullptr) made = std::make_unique<Channel>();
  return *made;
}

ChannelTransport::ChannelTransport(std::shared_ptr<ChannelMemory> memory, int rank)
    : memory_(std::move(memory)), rank_(rank) {
  CHASQUI_CHECK(rank >= 0 && rank < memory_->ranks(), "rank={} ranks={}", rank, memory_->ranks());
}

ChannelTransport::Peer& ChannelTransport::peer(int rank) {
  if (peers_.empty()) peers_.resize(static_cast<std::size_t>(memory_->ranks()));
  auto& found = peers_[static_cast<std::size_t>(rank)];
  if (found == nullptr) found = std::make_unique<Peer>();
  return *found;
}

ChannelMemory::Channel& ChannelTransport::outgoing(int to) {
  Peer& there = peer(to);
  if (there.to == nullptr) there.to = &memory_->channel(rank_, to);
  return *there.to;
}

run::Transport::Ticket ChannelTransport::send(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
  auto* const from = static_cast<std::byte*>(const_cast<void*>(data));
  const Ticket ticket = operations_.take({.sends = true, .peer = to, .tag = tag, .data = from, .bytes = bytes});
  Peer& there = peer(to);
  there.outgoing.push_back(ticket);
  push(to);
  if (!there.outgoing.empty() && std::find(held_.begin(), held_.end(), to) == held_.end()) {
    held_.push_back(to);
  }
  return ticket;
}

run::Transport::Ticket ChannelTransport::receive(int from, std::uint32_t tag, void* data, std::size_t bytes) {
  const Ticket ticket =
      operations_.take({.peer = from, .tag = tag, .data = static_cast<std::byte*>(data), .bytes = bytes});
  Peer& there = peer(from);
  const auto early = std::find_if(there.early.begin(), there.early.end(), [&](const Early& e) { return e.tag == tag; });
  if (early != there.early.end()) {
    deliver(operations_[ticket], early->data.data(), early->data.size());
    there.early.erase(early);
  } else {
    there.expected.push_back(ticket);
  }
  return ticket;
}

void ChannelTransport::deliver(Operation& operation, const std::byte* data, std::size_t bytes) {
  operation.complete = true;
  operation.mismatch = bytes != operation.bytes;
  operation.theirs = bytes;
  if (!operation.mismatch && bytes != 0) std::memcpy(operation.data, data, bytes);
}

void ChannelTransport::push(int to) {
  Peer& there = peer(to);
  auto& channel = outgoing(to);
  while (!there.outgoing.empty() &&
         there.sent - channel.taken.load(std::memory_order_acquire) < ChannelMemory::kDepth) {
    auto& operation = operations_[there.outgoing.front()];
    there.outgoing.pop_front();
    operation.number = ++there.sent;
    auto& line = channel.lines[operation.number % ChannelMemory::kDepth];
    line.tag = operation.tag;
    line.bytes = operation.bytes;
    if (operation.bytes <= ChannelMemory::kInline) {
      if (operation.bytes != 0) std::memcpy(line.data, operation.data, operation.bytes);
      operation.complete = true;
    } else {
      line.where = operation.data;
    }
    line.number.store(operation.number, std::memory_order_release);
  }
}

void ChannelTransport::pull(int from) {
  Peer& there = peer(from);
  if (there.from == nullptr) there.from = &memory_->channel(from, rank_);
  auto& channel = *there.from;
  while (!there.expected.empty()) {
    auto& line = channel.lines[(there.received + 1) % ChannelMemory::kDepth];
    if (line.number.load(std::memory_order_acquire) != there.received + 1) return;
    const bool inside = line.bytes <= ChannelMemory::kInline;
    if (!inside) {
      channel.copying.store(there.received + 1);
      if (line.withdrawn.load() == there.received + 1) {  // passed over; news will come of why
        channel.taken.store(++there.received, std::memory_order_release);
        continue;
      }
    }
    const auto* data = inside ? line.data : static_cast<const std::byte*>(line.where);
    const auto match = std::find_if(there.expected.begin(), there.expected.end(),
                                    [&](Ticket ticket) { return operations_[ticket].tag == line.tag; });
    if (match != there.expected.end()) {
      deliver(operations_[*match], data, line.bytes);
      there.expected.erase(match);
    } else {
      there.early.push_back({line.tag, std::vector<std::byte>(data, data + line.bytes)});
    }
    ++there.received;
    channel.taken.store(there.received, std::memory_order_release);
  }
}

bool ChannelTransport::done(Ticket ticket) {
  auto& operation = operations_[ticket];
  if (!operation.complete) {
    // Whoever waits, for whatever, also moves the messages that found their channel full.
    std::erase_if(held_, [&](int to) { return push(to), peer(to).outgoing.empty(); });
    if (!operation.sends) {
      pull(operation.peer);
    } else {
      if (operation.number != 0 && !operation.complete) {
        operation.complete = outgoing(operation.peer).taken.load(std::memory_order_acquire) >= operation.number;
      }
    }
    if (!operation.complete) return false;
  }
  operations_.give_back(ticket);
  if (operation.mismatch) {
    throw Error("rank {} expected a message of {} bytes from rank {} and got {}: all ranks must pass the same size",
                rank_, operation.bytes, operation.peer, operation.theirs);
  }
  return true;
}

void ChannelTransport::abandon(Ticket ticket) {
  auto& operation = operations_[ticket];
  Peer& there = peer(operation.peer);
  std::erase(there.outgoing, ticket);
  std::erase(there.expected, ticket);
  if (operation.sends && operation.number != 0 && !operation.complete) {  // where the receiver copies it from
    auto& channel = outgoing(operation.peer);
    channel.lines[operation.number % ChannelMemory::kDepth].withdrawn.store(operation.number);
    while (channel.copying.load() == operation.number && channel.taken.load() < operation.number) run::cpu_relax();
  }
  operations_.give_back(ticket);
}

}  // namespace chasqui::threads
