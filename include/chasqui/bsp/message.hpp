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
    iterator(std::span<const detail::BlockPtr> blocks, std::size_t block, std::uint32_t tag)
        : blocks_(blocks), block_(block), tag_(tag) {
      settle();
    }
    reference operator*() const { return message_; }
    pointer operator->() const { return &message_; }
    iterator& operator++() { return at_ = next_, settle(), *this; }
    iterator operator++(int) {
      iterator old = *this;
      return ++*this, old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.block_ == b.block_ && a.at_ == b.at_; }

   private:
    /// Moves on to the next entry of this kind, if at_ is not one.
    void settle() {
      for (; block_ < blocks_.size(); ++block_, at_ = 0) {
        const detail::Buffer& payload = blocks_[block_]->payload;
        while (at_ < payload.size()) {
          detail::Entry entry;
          std::memcpy(&entry, payload.data() + at_, sizeof entry);
          const std::byte* const bytes = payload.data() + at_ + sizeof entry;
          next_ = at_ + sizeof entry + detail::padded(entry.bytes);
          if (entry.tag == tag_) {
            message_ = {blocks_[block_]->from, {reinterpret_cast<const T*>(bytes), entry.bytes / sizeof(T)}};
            return;
          }
          at_ = next_;
        }
      }
      at_ = 0;
    }

    std::span<const detail::BlockPtr> blocks_;
    std::size_t block_ = 0, at_ = 0, next_ = 0;
    std::uint32_t tag_ = 0;
    Message<T> message_;
  };
  /// What arrived on one channel; programs get this from a World or a Queue.
  Messages(std::span<const detail::BlockPtr> blocks, std::uint32_t channel)
      : blocks_(blocks), tag_(detail::make_tag(detail::EntryKind::message, channel)) {}

  iterator begin() const { return {blocks_, 0, tag_}; }             ///< the first message
  iterator end() const { return {blocks_, blocks_.size(), tag_}; }  ///< behind the last
  bool empty() const { return begin() == end(); }                   ///< did nothing arrive?
  /// Counts the messages: O(messages).
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  /// All values of all messages, one after another.
  std::vector<T> values() const {
    std::vector<T> all;
    for (const Message<T>& message : *this) all.insert(all.end(), message.values.begin(), message.values.end());
    return all;
  }

 private:
  std::span<const detail::BlockPtr> blocks_;
  std::uint32_t tag_;
};

namespace detail {

/// The channel of messages sent without a queue: a hash of the type's name, in the upper half of the
/// channels.
template <typename T>
constexpr std::uint32_t type_channel() {
  std::uint32_t hash = 2166136261U;
  for (const char c : std::string_view(__PRETTY_FUNCTION__)) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash & 0x3fffffffU) | 0x20000000U;
}

}  // namespace detail

}  // namespace chasqui::bsp
