// SPDX-License-Identifier: MIT
// What travels between processors: a block of packed messages from one sender to one receiver. Inside, runs follow each
// other, each padded to 8 bytes: the head, then its messages, all of one length, without anything between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "chasqui/base/cache.hpp"

namespace chasqui::bsp::detail {

/// Bytes between what two threads write: a core asks for two lines at a time.
inline constexpr std::size_t kApart = 128;

/// Memory that another process reads where it lies.
class Lender {
 public:
  virtual ~Lender() = default;
  /// At least `bytes`, and then as many as there are; nullptr: there are not so many left.
  virtual std::byte* lend(std::size_t& bytes) noexcept = 0;
  virtual void give_back(std::byte* memory) noexcept = 0;
};

/// Room that is part of something larger, which gives it back.
class Inside final : public Lender {
 public:
  std::byte* lend(std::size_t&) noexcept override { return nullptr; }
  void give_back(std::byte*) noexcept override {}
};
inline Inside inside;

/// Bytes that grow at the end without being zeroed; aligned for every type of alignment <= 16. They lie in memory of the process, or in a
/// lender's as long as that has some.
class Buffer {
 public:
  Buffer() = default;
  /// The first bytes lie in this room, which outlives the buffer.
  explicit Buffer(std::span<std::byte> room) : data_(room.data()), capacity_(room.size()), lender_(&inside) {}
  explicit Buffer(Lender& lender) : lender_(&lender) {}
  /// What another process has written there.
  Buffer(Lender& lender, std::byte* data, std::size_t bytes)
      : data_(data), size_(bytes), capacity_(bytes), lender_(&lender) {}
  Buffer(Buffer&& other) { take(other); }
  Buffer& operator=(Buffer&& other) {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~Buffer() { release(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> view() const { return {data_, size_}; }
  bool borrowed() const { return lender_ != nullptr && lender_ != &inside; }

  /// Makes room for `bytes` more and returns where they begin.
  std::byte* extend(std::size_t bytes) {
    if (size_ + bytes > capacity_) reserve(capacity_ * 2 > size_ + bytes ? capacity_ * 2 : size_ + bytes);
    std::byte* const begin = data_ + size_;
    size_ += bytes;
    return begin;
  }
  /// Room for `bytes` in all. What lies in the room before stays.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    const std::size_t capacity = (bytes + 63) / 64 * 64;
    if (lender_ != nullptr) return borrow(capacity);
    auto* const data = static_cast<std::byte*>(std::realloc(data_, capacity));
    if (data == nullptr) throw std::bad_alloc();
    data_ = data, capacity_ = capacity;
  }
  /// The first `bytes` of the room count. REQUIRES bytes <= capacity().
  void resize(std::size_t bytes) { size_ = bytes; }
  void release() noexcept {
    if (lender_ == nullptr) std::free(data_);
    else if (data_ != nullptr) lender_->give_back(data_);
    forget();
  }
  /// Asks for what a core does not guess: the first lines, and those of the pages that follow.
  void prefetch() const {
    if (lender_ == &inside) return;  // comes with what is around it
    ask_for(0, 512);
    std::size_t page = kPage - reinterpret_cast<std::uintptr_t>(data_) % kPage;
    for (int pages = 0; pages < 4 && page < size_; ++pages, page += kPage) ask_for(page, 256);
  }
  /// Asks for the first `bytes`, or as many as there are.
  void prefetch(std::size_t bytes) const {
    if (lender_ != &inside) ask_for(0, bytes);
  }
  /// The bytes are somebody else's to give back.
  std::byte* hand_over() noexcept {
    std::byte* const data = data_;
    forget();
    return data;
  }

 private:
  void ask_for(std::size_t at, std::size_t bytes) const {
    for (const std::size_t end = std::min(size_, at + bytes); at < end; at += 64) ask_for_line(data_ + at);
  }
  /// What lies inside something else is copied: its room stays there. REQUIRES that this one has nothing.
  void take(Buffer& other) {
    if (other.lender_ == &inside) {
      if (other.size_ > 0) std::memcpy(extend(other.size_), other.data_, other.size_);
      other.size_ = 0;
      return;
    }
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_, lender_ = other.lender_;
    other.forget();
  }
  void forget() noexcept { data_ = nullptr, size_ = capacity_ = 0, lender_ = nullptr; }
  /// More of the lender's memory, else of the process's.
  void borrow(std::size_t capacity) {
    Lender* lender = lender_;
    std::byte* data = lender->lend(capacity);
    if (data == nullptr) {
      lender = nullptr;
      data = static_cast<std::byte*>(std::malloc(capacity));
      if (data == nullptr) throw std::bad_alloc();
    }
    if (data_ != nullptr) {
      std::memcpy(data, data_, capacity_);
      lender_->give_back(data_);
    }
    data_ = data, capacity_ = capacity, lender_ = lender;
  }

  static constexpr std::size_t kPage = 4096;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  Lender* lender_ = nullptr;  ///< nullptr: none
};

enum class EntryKind : std::uint32_t { message = 0, put = 1, get = 2, reply = 3 };

/// The head of messages of one length and tag.
struct Run {
  std::uint32_t tag = 0;    ///< kind (two top bits), and the queue or variable
  std::uint32_t bytes = 0;  ///< of each
  std::uint64_t count = 0;

  EntryKind kind() const { return static_cast<EntryKind>(tag >> 30); }
  std::uint32_t channel() const { return tag & 0x3fffffffU; }
};
static_assert(sizeof(Run) == 16);

constexpr std::uint32_t make_tag(EntryKind kind, std::uint32_t channel) {
  return static_cast<std::uint32_t>(kind) << 30 | (channel & 0x3fffffffU);
}
constexpr std::uint32_t kind_bit(EntryKind kind) { return 1U << static_cast<std::uint32_t>(kind); }
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

enum class Lane : std::uint32_t { superstep, reply, collective, ledger };

/// Where a block belongs: blocks of later supersteps may arrive early and wait.
struct Channel {
  std::uint64_t group = 0;
  std::uint64_t step = 0;
  Lane lane = Lane::superstep;

  friend auto operator<=>(const Channel&, const Channel&) = default;
};

/// A place in the spill file.
struct OnDisk {
  std::uint64_t at, bytes;
};

/// Two lines, with a message or two inside.
struct alignas(kApart) Block {
  Block* next = nullptr;  ///< mailboxes and chains
  Channel channel;
  std::int32_t from = 0;          ///< rank of the sender in the machine that synchronises
  std::uint32_t index = 0;        ///< order among the sender's blocks to this receiver
  std::uint64_t messages = 0;     ///< messages and puts inside: what sync(expected) counts
  std::uint64_t information = 0;  ///< bytes without heads and padding
  std::uint32_t kinds = 0;        ///< bit k: there is a run of kind k
  bool spilled = false;           ///< the payload lives on disk at the moment
  Buffer payload{small};
  union {
    alignas(8) std::byte small[32];
    OnDisk on_disk;  ///< of a payload that is too long for the room here
  };

  Block() {}
};
static_assert(sizeof(Block) == 128);
using BlockPtr = std::unique_ptr<Block>;
using Blocks = std::pmr::vector<BlockPtr>;

/// Blocks in a row, owned.
class Chain {
 public:
  Chain() = default;
  Chain(Chain&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  Chain& operator=(Chain&& other) noexcept {
    return std::swap(first_, other.first_), std::swap(last_, other.last_), *this;
  }
  ~Chain() { free(first_); }

  void push_back(BlockPtr block) {
    Block* const added = block.release();
    added->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = added;
    last_ = added;
  }
  /// nullptr: there is none left.
  BlockPtr pop_front() {
    BlockPtr one(first_);
    if (one != nullptr) first_ = std::exchange(one->next, nullptr);
    if (first_ == nullptr) last_ = nullptr;
    return one;
  }
  Block* first() { return first_; }
  /// The blocks, chained by `next`; the caller owns them.
  Block* release() { return last_ = nullptr, std::exchange(first_, nullptr); }
  static void free(Block* first) {
    while (first != nullptr) delete std::exchange(first, first->next);
  }

 private:
  Block* first_ = nullptr;
  Block* last_ = nullptr;
};

/// Blocks that are taken one by one, owned.
class Pile {
 public:
  /// They are chained by `next`.
  explicit Pile(Block* first = nullptr) : first_(first) {}
  Pile(Pile&& other) noexcept : first_(other.release()) {}
  Pile& operator=(Pile&& other) noexcept { return std::swap(first_, other.first_), *this; }
  ~Pile() { Chain::free(first_); }

  bool empty() const { return first_ == nullptr; }
  const Block* last() const { return first_; }  ///< nullptr: there is none
  void push(BlockPtr block) {
    block->next = first_;
    first_ = block.release();
  }
  /// The last one; nullptr: there is none left.
  BlockPtr pop() {
    BlockPtr one(first_);
    if (one != nullptr) first_ = std::exchange(one->next, nullptr);
    return one;
  }
  /// The blocks, chained by `next`; the caller owns them.
  Block* release() { return std::exchange(first_, nullptr); }

 private:
  Block* first_;
};

/// Calls visit(run, where its messages begin) for every run of the block.
template <typename Visit>
void for_each_run(const Block& block, const Visit& visit) {
  for (std::size_t at = 0; at < block.payload.size();) {
    Run run;
    std::memcpy(&run, block.payload.data() + at, sizeof run);
    visit(run, block.payload.data() + at + sizeof run);
    at += sizeof run + padded(run.bytes * static_cast<std::size_t>(run.count));
  }
}

}  // namespace chasqui::bsp::detail
