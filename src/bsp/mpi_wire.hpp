// SPDX-License-Identifier: MIT
// What MPI messages between processors are made of: records, one after another, each a head and its bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "chasqui/bsp/detail/endpoint.hpp"

namespace chasqui::bsp::detail {

enum class Record : std::uint32_t { block, arrival, probe, status, abort, goodbye };

struct RecordHead {
  Record record = Record::block;
  std::int32_t from = 0;  ///< block: rank in its machine; arrival: member; others: rank of the whole machine
  std::uint64_t bytes = 0;
  Channel channel;
  std::uint32_t index = 0;     ///< block; abort: the fault; probe and status: the wave
  std::uint32_t messages = 0;  ///< block; arrival: flags
  std::uint32_t kinds = 0;
  std::uint32_t blocked = 0;      ///< status
  std::uint64_t information = 0;  ///< block; status: MPI messages sent
  std::uint64_t received = 0;     ///< status: MPI messages received
};

inline void append(Buffer& out, RecordHead head, std::span<const std::byte> bytes) {
  head.bytes = bytes.size();
  std::byte* const place = out.extend(sizeof head + padded(bytes.size()));
  std::memcpy(place, &head, sizeof head);
  if (!bytes.empty()) std::memcpy(place + sizeof head, bytes.data(), bytes.size());
}

template <typename Visit>
void for_each_record(std::span<const std::byte> message, const Visit& visit) {
  while (!message.empty()) {
    RecordHead head;
    std::memcpy(&head, message.data(), sizeof head);
    visit(head, message.subspan(sizeof head, static_cast<std::size_t>(head.bytes)));
    message = message.subspan(sizeof head + padded(static_cast<std::size_t>(head.bytes)));
  }
}

}  // namespace chasqui::bsp::detail
