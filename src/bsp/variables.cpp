// SPDX-License-Identifier: MIT
// Registered variables of one processor: puts and gets, served at the end of a superstep. Gets see the values
// of before the puts; puts are applied in the order of sender, then of issue.
#include <cstring>

#include "chasqui/bsp/detail/core.hpp"

namespace chasqui::bsp::detail {

namespace {

struct GetRequest {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticket = 0;
};

/// Calls visit(entry, bytes) for every entry of the block.
template <typename Visit>
void for_each_entry(const Block& block, const Visit& visit) {
  const std::byte* at = block.payload.data();
  const std::byte* const end = at + block.payload.size();
  while (at < end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof entry);
    visit(entry, at + sizeof entry);
    at += sizeof entry + padded(entry.bytes);
  }
}

/// Who reaches into whose variables, and which way.
struct Access {
  std::int32_t from, of;
  bool puts;
};

/// Where the bytes lie that another rank names. Throws MachineError if the variable has gone, or is shorter.
template <typename Variables>
std::byte* place_in(const Variables& variables, std::size_t id, const Access& access, std::uint64_t offset,
                    std::uint64_t bytes) {
  if (id >= variables.size() || !variables[id]->alive) {
    throw MachineError(Fault::freed_variable,
                       fmt::format("rank {} {} variable #{} of rank {}, which {}", access.from,
                                   access.puts ? "puts to" : "gets from", id, access.of,
                                   id >= variables.size()
                                       ? "has not registered it"
                                       : fmt::format("freed it at {}:{}", variables[id]->file, variables[id]->line)));
  }
  const Segment& segment = variables[id]->segment;
  if (bytes > segment.bytes || offset > segment.bytes - bytes) {
    throw MachineError(
        access.puts ? Fault::bad_put : Fault::bad_get,
        fmt::format("rank {} {} bytes {} to {} of variable #{} of rank {}, which has {} bytes", access.from,
                    access.puts ? "puts" : "gets", offset, offset + bytes, id, access.of, segment.bytes));
  }
  return segment.data + offset;
}

}  // namespace

std::uint32_t Core::register_variable(std::size_t elements, std::size_t element_bytes) {
  auto variable = std::make_unique<Registered>();
  variable->segment.bytes = elements * element_bytes;
  variable->element_bytes = element_bytes;
  processor_.door().allocate(variable->segment);
  variables_.push_back(std::move(variable));
  return static_cast<std::uint32_t>(variables_.size() - 1);
}

void Core::free_variable(std::uint32_t id, const SourceLocation& where) noexcept {
  Registered& variable = *variables_[id];
  if (!variable.alive) return;
  processor_.door().release(variable.segment);
  variable.segment = {};
  variable.alive = false;
  variable.file = where.file_name();
  variable.line = where.line();
}

Core::Registered& Core::alive(std::uint32_t id, const char* doing) {
  Registered& variable = *variables_[id];
  if (!variable.alive) {
    throw MachineError(Fault::freed_variable, fmt::format("rank {} {} variable #{}, which it freed at {}:{}", rank_,
                                                          doing, id, variable.file, variable.line));
  }
  return variable;
}

std::span<std::byte> Core::memory(std::uint32_t id) {
  const Segment& segment = alive(id, "reads").segment;
  return {segment.data, segment.bytes};
}

void Core::put(std::uint32_t id, std::int32_t to, std::size_t offset, std::span<const std::byte> bytes) {
  check_rank(to, "puts to");
  alive(id, "puts to");
  const std::uint64_t at = offset;
  std::byte* const place = add_entry(to, make_tag(EntryKind::put, id), sizeof at + bytes.size(), true);
  std::memcpy(place, &at, sizeof at);
  if (!bytes.empty()) std::memcpy(place + sizeof at, bytes.data(), bytes.size());
}

std::shared_ptr<Fetched> Core::get(std::uint32_t id, std::int32_t from, std::size_t offset, std::size_t bytes) {
  check_rank(from, "gets from");
  alive(id, "gets from");
  const GetRequest request{offset, bytes, gets_.size()};
  std::memcpy(add_entry(from, make_tag(EntryKind::get, id), sizeof request, true), &request, sizeof request);
  gets_.push_back({from, std::make_shared<Fetched>()});
  return gets_.back().result;
}

void Core::serve_gets(Meeting& meeting, const Waiting& why) {
  for (const BlockPtr& block : inbox_) {
    if ((block->kinds & kind_bit(EntryKind::get)) == 0) continue;
    BlockPtr reply;
    for_each_entry(*block, [&](Entry entry, const std::byte* bytes) {
      if (entry.kind() != EntryKind::get) return;
      GetRequest request;
      std::memcpy(&request, bytes, sizeof request);
      const auto id = entry.channel();
      const std::byte* const source =
          place_in(variables_, id, {block->from, rank_, false}, request.offset, request.bytes);
      if (reply == nullptr) reply = std::make_unique<Block>();
      const Entry head{static_cast<std::uint32_t>(request.bytes),
                       make_tag(EntryKind::reply, static_cast<std::uint32_t>(request.ticket))};
      std::byte* const place = reply->payload.extend(sizeof head + padded(request.bytes));
      std::memcpy(place, &head, sizeof head);
      if (request.bytes > 0) std::memcpy(place + sizeof head, source, request.bytes);
      ++reply->messages;
      ++current_.sent_messages;
      current_.sent_bytes += static_cast<std::int64_t>(request.bytes);
    });
    if (reply != nullptr) {
      ++current_.sent_blocks;
      reply->from = rank_;
      reply->index = block->index;
      reply->channel = {meeting.info.id, meeting.step, Lane::reply};
      processor_.door().post(info_.members.at(block->from), std::move(reply));
    }
  }
  processor_.door().barrier(*meeting.group, {meeting.step, 0, meeting.member, {}}, why);
  std::vector<BlockPtr> replies;
  processor_.claim({meeting.info.id, meeting.step, Lane::reply}, replies);
  for (const BlockPtr& block : replies) {
    ++current_.received_blocks;
    for_each_entry(*block, [&](Entry entry, const std::byte* bytes) {
      Fetched& result = *gets_[entry.channel()].result;
      if (entry.bytes > 0) std::memcpy(result.bytes.extend(entry.bytes), bytes, entry.bytes);
      result.ready = true;
      ++current_.received_messages;
      current_.received_bytes += entry.bytes;
    });
  }
  gets_.clear();
}

void Core::apply_puts() {
  for (const BlockPtr& block : inbox_) {
    if ((block->kinds & kind_bit(EntryKind::put)) == 0) continue;
    for_each_entry(*block, [&](Entry entry, const std::byte* bytes) {
      if (entry.kind() != EntryKind::put) return;
      const auto id = entry.channel();
      std::uint64_t offset = 0;
      std::memcpy(&offset, bytes, sizeof offset);
      const std::size_t length = entry.bytes - sizeof offset;
      std::byte* const place = place_in(variables_, id, {block->from, rank_, true}, offset, length);
      if (length > 0) std::memcpy(place, bytes + sizeof offset, length);
    });
  }
}

}  // namespace chasqui::bsp::detail
