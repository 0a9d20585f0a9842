// SPDX-License-Identifier: MIT
// Registered variables of one processor: puts and gets, served at the end of a superstep. Gets see the values
// of before the puts; puts are applied in the order of sender, then of issue.
#include <cstring>
#include <limits>

#include "chasqui/bsp/detail/core.hpp"

namespace chasqui::bsp::detail {

namespace {

struct GetRequest {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticket = 0;
};

/// Calls visit(variable or ticket, bytes) for every entry of this kind.
template <typename Visit>
void for_each_entry(const Block& block, EntryKind kind, const Visit& visit) {
  if ((block.kinds & kind_bit(kind)) == 0) return;
  for_each_run(block, [&](const Run& run, const std::byte* bytes) {
    if (run.kind() != kind) return;
    for (std::uint64_t i = 0; i < run.count; ++i) visit(run.channel(), std::span(bytes + i * run.bytes, run.bytes));
  });
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
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (elements >= kMost / element_bytes) {
    throw MachineError(Fault::resources,
                       fmt::format("rank {} registers an array of {} elements of {} bytes: too long for any memory",
                                   rank_, elements, element_bytes));
  }
  auto variable = std::make_unique<Registered>();
  variable->segment.bytes = elements * element_bytes;
  auto& variables = rare().variables;
  variables.push_back(std::move(variable));
  try {
    processor_.door().allocate(variables.back()->segment);
  } catch (...) {
    variables.pop_back();
    throw;
  }
  return static_cast<std::uint32_t>(variables.size() - 1);
}

void Core::free_variable(std::uint32_t id, const SourceLocation& where) noexcept {
  Registered& variable = *rare().variables[id];
  if (!variable.alive) return;
  processor_.door().release(variable.segment);
  variable.segment = {};
  variable.alive = false;
  variable.file = where.file_name();
  variable.line = where.line();
}

Core::Registered& Core::alive(std::uint32_t id, const char* doing) {
  Registered& variable = *rare().variables[id];
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
  std::byte* const place = add(to, make_tag(EntryKind::put, id), sizeof at + bytes.size());
  std::memcpy(place, &at, sizeof at);
  if (!bytes.empty()) std::memcpy(place + sizeof at, bytes.data(), bytes.size());
}

std::shared_ptr<Fetched> Core::get(std::uint32_t id, std::int32_t from, std::size_t offset, std::size_t bytes) {
  check_rank(from, "gets from");
  alive(id, "gets from");
  if (bytes > kMostBytes) {
    throw MachineError(Fault::resources, fmt::format("rank {} gets {} bytes from rank {} at once: at most {}; split it",
                                                     rank_, bytes, from, kMostBytes));
  }
  auto& gets = rare().gets;
  const GetRequest request{offset, bytes, gets.size()};
  std::memcpy(add(from, make_tag(EntryKind::get, id), sizeof request), &request, sizeof request);
  gets.push_back({from, std::make_shared<Fetched>()});
  return gets.back().result;
}

void Core::serve_gets(Meeting& meeting, const Waiting& why) {
  meeting.parcels.clear();
  for (const BlockPtr& block : inbox_) {
    BlockPtr reply;
    for_each_entry(*block, EntryKind::get, [&](std::uint32_t id, std::span<const std::byte> bytes) {
      GetRequest request;
      std::memcpy(&request, bytes.data(), sizeof request);
      const std::byte* const source =
          place_in(rare().variables, id, {block->from, rank_, false}, request.offset, request.bytes);
      if (reply == nullptr) reply = processor_.fresh(main_.info().members.at(block->from));
      const Run head{make_tag(EntryKind::reply, static_cast<std::uint32_t>(request.ticket)),
                     static_cast<std::uint32_t>(request.bytes), 1};
      std::byte* const place = reply->payload.extend(sizeof head + padded(request.bytes));
      std::memcpy(place, &head, sizeof head);
      if (request.bytes > 0) std::memcpy(place + sizeof head, source, request.bytes);
      reply->kinds = kind_bit(EntryKind::reply);
      ++reply->messages;
      ++current_.sent_messages;
      current_.sent_bytes += static_cast<std::int64_t>(request.bytes);
    });
    if (reply == nullptr) continue;
    ++current_.sent_blocks;
    reply->from = rank_;
    reply->index = block->index;
    reply->channel = {meeting.info().id, meeting.step, Lane::reply};
    const std::int32_t to = meeting.member_of(block->from);  // blocks of one sender follow each other
    if (meeting.parcels.empty() || meeting.parcels.back().to != to) meeting.parcels.push_back({to, {}});
    meeting.parcels.back().blocks.push_back(std::move(reply));
  }
  Blocks replies;
  processor_.door().meet(*meeting.group, {meeting.step, 0, meeting.member, {}, Lane::reply}, meeting.parcels, replies,
                         why);
  processor_.claim({meeting.info().id, meeting.step, Lane::reply}, replies);
  for (const BlockPtr& block : replies) {
    ++current_.received_blocks;
    for_each_entry(*block, EntryKind::reply, [&](std::uint32_t ticket, std::span<const std::byte> bytes) {
      Fetched& result = *rare_->gets[ticket].result;
      if (!bytes.empty()) std::memcpy(result.bytes.extend(bytes.size()), bytes.data(), bytes.size());
      result.ready = true;
      ++current_.received_messages;
      current_.received_bytes += static_cast<std::int64_t>(bytes.size());
    });
  }
  processor_.recycle(replies);
  if (rare_ != nullptr) rare_->gets.clear();
}

void Core::apply_puts() {
  for (const BlockPtr& block : inbox_) {
    for_each_entry(*block, EntryKind::put, [&](std::uint32_t id, std::span<const std::byte> bytes) {
      std::uint64_t offset = 0;
      std::memcpy(&offset, bytes.data(), sizeof offset);
      const std::size_t length = bytes.size() - sizeof offset;
      std::byte* const place = place_in(rare().variables, id, {block->from, rank_, true}, offset, length);
      if (length > 0) std::memcpy(place, bytes.data() + sizeof offset, length);
    });
  }
}

}  // namespace chasqui::bsp::detail
