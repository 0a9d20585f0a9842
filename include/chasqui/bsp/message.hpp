// SPDX-License-Identifier: MIT
// Messages as the receiver sees them: in the order of sender, then of sending, without a copy.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "chasqui/base/cache.hpp"
#include "chasqui/bsp/detail/block.hpp"

namespace chasqui::bsp {

/// What can travel: plain bytes. A pointer or a view (std::span, std::string_view) is a place in memory, which means nothing elsewhere.
template <typename T>
concept Sendable = std::is_trivially_copyable_v<T> && alignof(T) <= 8 && !std::is_pointer_v<T> &&
                   !std::ranges::enable_borrowed_range<std::remove_cv_t<T>>;
/// One message as it arrived.
template <Sendable T>
struct Message {
  int from = 0;               ///< the sender's rank
  std::span<const T> values;  ///< its contents, valid until the next sync

  const T& value() const { return values.front(); }  ///< the first value: messages of one. REQUIRES that there is one
};

/// A view of the received messages of one kind. Valid until the next sync of the machine.
template <Sendable T>
class Messages {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Message<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const Message<T>*;
    using reference = const Message<T>&;

    iterator() = default;
    iterator(std::span<const detail::BlockPtr> blocks, std::uint32_t tag)
        : blocks_(blocks), tag_(tag), run_(find_run(blocks, tag, 0, 0)) {}
    reference operator*() const { return run_.message; }
    pointer operator->() const { return &run_.message; }
    iterator& operator++() {
      const std::span<const T> values = run_.message.values;
      if (--run_.left == 0) [[unlikely]] {
        next_run();
        return *this;
      }
      run_.message.values = {values.data() + values.size(), values.size()};
      ask_for_line(reinterpret_cast<const std::byte*>(values.data()) + kAhead);
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      return ++*this, old;
    }
    /// Nothing is left behind the last: a loop asks no more than whether it goes on in its run.
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.run_.left == b.run_.left && a.run_.message.values.data() == b.run_.message.values.data();
    }

   private:
    friend class Messages;

    /// How far ahead of the present message a loop asks for bytes: they lie in another core's cache, and the hardware begins late (10^4
    /// messages of 8 bytes a thread: 16 threads read theirs in 16 instead of 20.5 us, 2 threads in 8.4 instead of 14 to 16).
    static constexpr std::size_t kAhead = 512;

    /// Messages of one length that follow each other.
    struct Run {
      Message<T> message;                 ///< the present one
      std::size_t left = 0;               ///< messages, with the present one; 0: behind the last
      std::size_t block = 0, behind = 0;  ///< where the run after this one begins
    };
    /// The first run of this kind from there on. Given and returned by value: what a loop counts stays in registers.
    [[gnu::noinline]] static Run find_run(std::span<const detail::BlockPtr> blocks, std::uint32_t tag,
                                          std::size_t block, std::size_t at) {
      for (; block < blocks.size(); ++block, at = 0) {
        const detail::Buffer& payload = blocks[block]->payload;
        while (at < payload.size()) {
          detail::Run head;
          std::memcpy(&head, payload.data() + at, sizeof head);
          const std::byte* const bytes = payload.data() + at + sizeof head;
          at += sizeof head + detail::padded(head.bytes * static_cast<std::size_t>(head.count));
          if (head.tag != tag) continue;
          const std::span values(reinterpret_cast<const T*>(bytes), head.bytes / sizeof(T));
          if (block + 1 < blocks.size()) blocks[block + 1]->payload.prefetch();
          return {{blocks[block]->from, values}, static_cast<std::size_t>(head.count), block, at};
        }
      }
      return {};
    }
    void next_run() { run_ = find_run(blocks_, tag_, run_.block, run_.behind); }

    std::span<const detail::BlockPtr> blocks_;
    std::uint32_t tag_ = 0;
    Run run_;
  };
  /// What arrived on one channel; programs get this from a World or a Queue.
  Messages(std::span<const detail::BlockPtr> blocks, std::uint32_t channel)
      : blocks_(blocks), tag_(detail::make_tag(detail::EntryKind::message, channel)) {}

  iterator begin() const { return {blocks_, tag_}; }  ///< the first message
  iterator end() const { return {}; }                 ///< behind the last
  bool empty() const { return begin() == end(); }     ///< did nothing arrive?
  /// Counts the messages: O(senders) when each sent messages of one type and length.
  std::size_t size() const {
    std::size_t messages = 0;
    for_each_run([&](const iterator& run) { messages += run.run_.left; });
    return messages;
  }
  /// All values of all messages, one after another.
  std::vector<T> values() const {
    std::size_t count = 0;
    for_each_run([&](const iterator& run) { count += run.run_.left * run->values.size(); });
    std::vector<T> all;
    all.reserve(count);
    for_each_run([&](const iterator& run) {
      const T* const first = run->values.data();
      all.insert(all.end(), first, first + run.run_.left * run->values.size());
    });
    return all;
  }

 private:
  /// Messages of one length follow each other in memory.
  template <typename Visit>
  void for_each_run(const Visit& visit) const {
    for (iterator run = begin(); run != end(); run.next_run()) visit(run);
  }

  std::span<const detail::BlockPtr> blocks_;
  std::uint32_t tag_;
};

namespace detail {

/// The channel of messages sent without a queue: a hash of the type's name, in the upper half of the
/// channels.
template <typename T>
consteval std::uint32_t hash_type() {
  std::uint32_t hash = 2166136261U;
  for (const char c : std::string_view(__PRETTY_FUNCTION__)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash & 0x3fffffffU) | 0x20000000U;
}
template <typename T>
inline constexpr std::uint32_t kTypeChannel = hash_type<T>();

}  // namespace detail

}  // namespace chasqui::bsp
