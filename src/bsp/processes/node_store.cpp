// SPDX-License-Identifier: MIT
#include "bsp/processes/node_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace chasqui::bsp::detail {

namespace {

constexpr std::size_t kStep = std::size_t{64} << 10;  ///< bytes that an area grows by, at least
constexpr int kLooks = 8;                             ///< pieces that are looked at before a new one is cut
constexpr std::size_t kLargerClasses = 8;  ///< that are searched when none can be cut: up to four times as large

}  // namespace

NodeStore::NodeStore(std::byte* memory, std::size_t area, int place, Reserve reserve)
    : memory_(memory), own_(memory + area * static_cast<std::size_t>(place)), area_(area),
      reserve_(std::move(reserve)) {}

/// A free piece: of those that were sent, some of the oldest may have been read by now.
NodeStore::Head* NodeStore::found(Shelf& shelf) noexcept {
  for (int look = 0; shelf.free == nullptr && shelf.first_sent != nullptr && look < kLooks; ++look) {
    Head* const head = std::exchange(shelf.first_sent, shelf.first_sent->queue);
    if (head->readers.load(std::memory_order_acquire) != 0) {
      sent(*head);
    } else {
      head->queue = shelf.free;
      shelf.free = head;
    }
  }
  return shelf.free == nullptr ? nullptr : std::exchange(shelf.free, shelf.free->queue);
}

NodeStore::Head* NodeStore::cut(std::size_t size_class) noexcept {
  const std::size_t bytes = sizeof(Head) + capacity(size_class);
  if (used_ + bytes > reserved_) {
    if (short_ || used_ + bytes > area_) return nullptr;
    const std::size_t wanted = std::max({used_ + bytes - reserved_, kStep, reserved_ / 2});
    const std::size_t more = std::min(wanted, area_ - reserved_);
    try {
      short_ = !reserve_(static_cast<std::size_t>(own_ - memory_) + reserved_, more);
    } catch (...) {
      short_ = true;
    }
    if (short_) return nullptr;
    reserved_ += more;
  }
  auto* const head = new (own_ + used_) Head{};
  head->size_class = static_cast<std::uint32_t>(size_class);
  used_ += bytes;
  return head;
}

std::byte* NodeStore::lend(std::size_t& bytes) noexcept {
  std::size_t size_class = 0;
  while (size_class < kClasses && capacity(size_class) < bytes) ++size_class;
  if (size_class == kClasses || capacity(size_class) > area_ / 4) return nullptr;
  Head* head = found(shelves_[size_class]);
  if (head == nullptr) head = cut(size_class);
  const std::size_t end = std::min(size_class + kLargerClasses, kClasses);
  while (head == nullptr && ++size_class < end) head = found(shelves_[size_class]);
  if (head == nullptr) return nullptr;
  bytes = capacity(head->size_class);
  return memory_of(*head);
}

void NodeStore::give_back(std::byte* memory) noexcept {
  Head& head = head_of(memory);
  if (memory < own_ || memory >= own_ + area_) {
    head.readers.fetch_sub(1, std::memory_order_release);
    return;
  }
  Shelf& shelf = shelves_[head.size_class];
  head.queue = shelf.free;
  shelf.free = &head;
}

void NodeStore::sent(Head& head) noexcept {
  Shelf& shelf = shelves_[head.size_class];
  head.queue = nullptr;
  (shelf.first_sent == nullptr ? shelf.first_sent : shelf.last_sent->queue) = &head;
  shelf.last_sent = &head;
}

std::uint64_t NodeStore::send(BlockPtr block, std::uint64_t before) {
  const std::size_t bytes = block->payload.size();
  std::byte* const memory = block->payload.hand_over();
  Head& head = head_of(memory);
  head.next = 0;
  head.channel = block->channel;
  head.from = block->from;
  head.index = block->index;
  head.messages = block->messages;
  head.information = block->information;
  head.bytes = bytes;
  head.kinds = block->kinds;
  head.readers.store(1, std::memory_order_relaxed);
  sent(head);
  const auto offset = static_cast<std::uint64_t>(memory - memory_);
  if (before != 0) head_of(at(before)).next = offset;
  return offset;
}

BlockPtr NodeStore::receive(std::uint64_t& offset) {
  auto block = std::make_unique<Block>();
  std::byte* const memory = at(offset);
  const Head& head = head_of(memory);
  block->channel = head.channel;
  block->from = head.from;
  block->index = head.index;
  block->messages = head.messages;
  block->information = head.information;
  block->kinds = head.kinds;
  block->payload = Buffer(*this, memory, static_cast<std::size_t>(head.bytes));
  offset = head.next;
  return block;
}

std::uint64_t NodeStore::share(std::size_t bytes, std::uint32_t ranks) noexcept {
  std::byte* const memory = lend(bytes);
  if (memory == nullptr) return 0;
  Head& head = head_of(memory);
  head.readers.store(ranks, std::memory_order_relaxed);
  sent(head);
  return static_cast<std::uint64_t>(memory - memory_);
}

}  // namespace chasqui::bsp::detail
