// SPDX-License-Identifier: MIT
#include "plan/stream/interleaved.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {

InterleavedStream::InterleavedStream(std::int64_t L, std::int64_t copies, StreamPtr inner, Claim claim)
    : Stream(inner->P(), L, inner->root(), std::move(claim)), copies_(copies), inner_(std::move(inner)) {
  CHASQUI_CHECK(copies_ * inner_->L() >= L, "InterleavedStream: {} copies of L={} for L={}", copies_, inner_->L(), L);
}

std::int64_t InterleavedStream::period() const { return saturating_multiply(copies_, inner_->period()); }

StreamMessage InterleavedStream::expand(StreamMessage message, std::int64_t copy) const {
  message.begin = Time{message.begin.ticks * copies_ + copy};
  message.item = message.item * copies_ + copy;
  return message;
}

std::optional<StreamMessage> InterleavedStream::pattern_sent(std::int64_t rank, std::int64_t time) const {
  const std::int64_t copy = modulo(time, copies_);
  const auto message = inner_->pattern_sent(rank, (time - copy) / copies_);
  return message ? std::optional(expand(*message, copy)) : std::nullopt;
}

std::optional<StreamMessage> InterleavedStream::pattern_received(std::int64_t rank, std::int64_t time) const {
  const std::int64_t copy = modulo(time - L_, copies_);
  const auto message = inner_->pattern_received(rank, (time - L_ - copy) / copies_ + inner_->L());
  return message ? std::optional(expand(*message, copy)) : std::nullopt;
}

std::vector<StreamMessage> InterleavedStream::messages_of(std::int64_t item) const {
  const std::int64_t copy = modulo(item, copies_);
  std::vector<StreamMessage> messages = inner_->messages_of((item - copy) / copies_);
  for (StreamMessage& message : messages) message = expand(message, copy);
  return messages;
}

}  // namespace chasqui::plan::stream_detail
