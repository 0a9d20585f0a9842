// SPDX-License-Identifier: MIT
// What MPI messages between processors are made of: records, one after another, each its bytes, padded to 8, and then its
// head: a block that comes first in a message is sent and received where it lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "chasqui/bsp/detail/endpoint.hpp"

namespace chasqui::bsp::detail {

/// Bytes of a block that is not worth a copy: it is sent and received where it lies.
inline constexpr std::size_t kLargeBlock = 1024;

enum class Record : std::uint32_t {
  block,
  lent,  ///< a block that lies in the store of the node
  arrival,
  probe,
  status,
  abort,
  goodbye
};

struct RecordHead {
  Record record = Record::block;
  std::int32_t from = 0;  ///< block: rank in its machine; arrival: member; others: rank of the whole machine
  std::uint64_t bytes = 0;
  Channel channel;
  std::uint32_t index = 0;        ///< block; abort: the fault; probe and status: the wave
  std::uint32_t flags = 0;        ///< arrival; block: its kinds
  std::uint64_t messages = 0;     ///< block
  std::uint64_t counted = 0;      ///< block, lent: the receiver does
  std::uint64_t information = 0;  ///< block; lent: where it lies; arrival: a board that is offered
};

/// The bytes are those at the end of `out`.
inline void append_head(Buffer& out, RecordHead head, std::size_t bytes) {
  head.bytes = bytes;
  std::byte* const end = out.extend(padded(bytes) - bytes + sizeof head);
  std::memcpy(end + padded(bytes) - bytes, &head, sizeof head);
}

/// Without memory nothing is appended.
inline void append(Buffer& out, RecordHead head, std::span<const std::byte> bytes) {
  head.bytes = bytes.size();
  std::byte* const place = out.extend(padded(bytes.size()) + sizeof head);
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  std::memcpy(place + padded(bytes.size()), &head, sizeof head);
}

/// The last record comes first.
template <typename Visit>
void for_each_record(std::span<const std::byte> message, const Visit& visit) {
  while (!message.empty()) {
    RecordHead head;
    message = message.first(message.size() - sizeof head);
    std::memcpy(&head, message.data() + message.size(), sizeof head);
    const std::size_t begin = message.size() - padded(static_cast<std::size_t>(head.bytes));
    visit(head, message.subspan(begin, static_cast<std::size_t>(head.bytes)), begin);
    message = message.first(begin);
  }
}

/// What a superstep cost some members: plain numbers.
struct Sum {
  std::uint64_t step = 0;
  std::int64_t most[6] = {};
  std::int64_t total[3] = {};

  static Sum of(const Booking& one) {
    Superstep step;
    merge(step, one.row, false);
    return {one.row.step,
            {step.nanoseconds, step.work, step.messages, step.blocks, step.bytes, one.span},
            {step.total_messages, step.total_blocks, step.total_bytes}};
  }
  Superstep superstep() const {
    return {most[0], most[1], most[2], most[3], most[4], total[0], total[1], total[2], most[5], {}};
  }
  void add(const Sum& other) {
    for (int i = 0; i < 6; ++i) most[i] = std::max(most[i], other.most[i]);
    for (int i = 0; i < 3; ++i) total[i] += other.total[i];
  }
  /// Nothing was sent or received.
  bool quiet() const { return (most[2] | most[3] | most[4] | total[0] | total[1] | total[2]) == 0; }
};

/// Blocks that a member gets of one other.
struct Share {
  std::int32_t to = 0;
  std::uint32_t blocks = 0;
};

/// What a rank shows the others of its node at the end of a superstep: this, then sums, then shares. A sum that says little is in here.
struct Brought {
  std::uint64_t step = 0;
  std::uint32_t flags = 0;
  std::uint32_t sums = 0;   ///< that follow
  std::uint64_t quiet = 0;  ///< 1: there is one sum, this:
  std::int64_t nanoseconds = 0, work = 0, span = 0;

  /// REQUIRES quiet.
  Sum sum() const { return {0, {nanoseconds, work, 0, 0, 0, span}, {}}; }
};
static_assert(sizeof(Brought) == 48, "fits a line of the board");

/// What some members bring to the end of a superstep, together. Of those at distances 0, h, 2h, ... before this one the last may count or not:
/// two sums a superstep.
struct Digest {
  struct Pair {
    Sum more, less;
  };
  Agreement agreement;
  std::uint64_t board = 0;  ///< where the first member of a machine has set up one; 0: nowhere
  std::vector<Pair> sums;

  explicit Digest(std::span<const Booking> rows) : sums(rows.size()) {
    for (std::size_t i = 0; i < rows.size(); ++i) sums[i].more.step = sums[i].less.step = rows[i].row.step;
  }
  void add(std::size_t i, const Sum& sum) {
    if (i < sums.size()) sums[i].more.add(sum);  // else they disagree on the superstep, and will be told
  }
};

/// Values of any trivial type, read one after another.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}
  template <typename T>
  T next() {
    T value;
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

inline void append_bytes(Buffer& out, const void* data, std::size_t bytes) {
  if (bytes > 0) std::memcpy(out.extend(bytes), data, bytes);
}

}  // namespace chasqui::bsp::detail
