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

#include "chasqui/bsp/detail/block.hpp"

namespace chasqui::bsp {

/// What can travel: plain bytes.
template <typename T>
concept Sendable = std::is_trivially_copyable_v<T> && alignof(T) <= 8;
/// One message as it arrived.
template <Sendable T>
struct Message {
  int from = 0;               ///< the sender's rank
  std::span<const T> values;  ///< its contents, valid until the next sync

  const T& value() const { return values.front(); }  ///< the first value: messages of one
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
    iterator(std::span<const detail::BlockPtr> blocks, std::uint32_t tag) : blocks_(blocks), tag_(tag) { find_run(); }
    reference operator*() const { return message_; }
    pointer operator->() const { return &message_; }
    iterator& operator++() {
      if (--left_ == 0) [[unlikely]]
        find_run();
      else message_.values = {message_.values.data() + message_.values.size(), message_.values.size()};
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      return ++*this, old;
    }
    /// Nothing is left behind the last: a loop asks no more than whether it goes on in its run.
    friend bool operator==(const iterator& a, const iterator& b) {
      return a.left_ == b.left_ && a.message_.values.data() == b.message_.values.data();
    }

   private:
    friend class Messages;

    /// The next run of this kind.
    void find_run() {
      for (; block_ < blocks_.size(); ++block_, next_ = 0) {
        const detail::Buffer& payload = blocks_[block_]->payload;
        while (next_ < payload.size()) {
          detail::Run run;
          std::memcpy(&run, payload.data() + next_, sizeof run);
          const std::byte* const bytes = payload.data() + next_ + sizeof run;
          next_ += sizeof run + detail::padded(run.bytes * static_cast<std::size_t>(run.count));
          if (run.tag != tag_) continue;
          message_ = {blocks_[block_]->from, {reinterpret_cast<const T*>(bytes), run.bytes / sizeof(T)}};
          left_ = static_cast<std::size_t>(run.count);
          return;
        }
      }
      left_ = next_ = 0;
      message_ = {};
    }

    std::span<const detail::BlockPtr> blocks_;
    std::size_t block_ = 0, next_ = 0;  ///< where the run after this one begins
    std::size_t left_ = 0;              ///< messages of this run, with the present one
    std::uint32_t tag_ = 0;
    Message<T> message_;
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
    for_each_run([&](const iterator& run) { messages += run.left_; });
    return messages;
  }
  /// All values of all messages, one after another.
  std::vector<T> values() const {
    std::size_t count = 0;
    for_each_run([&](const iterator& run) { count += run.left_ * run->values.size(); });
    std::vector<T> all;
    all.reserve(count);
    for_each_run([&](const iterator& run) {
      const T* const first = run->values.data();
      all.insert(all.end(), first, first + run.left_ * run->values.size());
    });
    return all;
  }

 private:
  /// Messages of one length follow each other in memory.
  template <typename Visit>
  void for_each_run(const Visit& visit) const {
    for (iterator run = begin(); run != end(); run.find_run()) visit(run);
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
