// SPDX-License-Identifier: MIT
#include "bsp/virtual/group.hpp"

#include <algorithm>
#include <utility>

namespace chasqui::bsp::detail {

VirtualGroup::VirtualGroup(const GroupInfo& description, std::int32_t most_sections)
    : SharedGroup(description), sections(static_cast<std::size_t>(std::min(most_sections, info.members.count))),
      own_books(most_sections <= info.members.count) {
  for (std::int32_t member = 0; member < info.members.count; ++member) {
    Section& section = section_of(member);
    if (section.members++ == 0) section.first = member;
  }
  for (Section& section : sections) section.asleep.resize(static_cast<std::size_t>(section.members));
  incoming_ = std::make_unique<Incoming[]>(static_cast<std::size_t>(info.members.count));
}

VirtualGroup::~VirtualGroup() {
  for (std::int32_t member = 0; member < info.members.count; ++member) {
    for (const std::atomic<Block*>& blocks : incoming(member)) Chain::free(blocks.load(std::memory_order_relaxed));
  }
}

void VirtualGroup::close(bool keep_rows) {
  for (Section& section : sections) section.pay(costs, keep_rows);
}

void VirtualGroup::book(std::int32_t carrier, const Row& row, std::int64_t span, bool keep_row) {
  if (own_books) return sections[static_cast<std::size_t>(carrier)].book(row, span, keep_row);
  Section& section = sections[static_cast<std::size_t>(carrier) % sections.size()];
  const Holding holding(section.busy);
  section.book(row, span, keep_row);
}

void VirtualGroup::push(std::int32_t member, Block* block) {
  std::atomic<Block*>& head = incoming(member)[meetings % 2];
  block->next = head.load(std::memory_order_relaxed);
  while (!head.compare_exchange_weak(block->next, block, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
}

void VirtualGroup::take(std::int32_t member, Blocks& in) {
  std::atomic<Block*>& head = incoming(member)[(meetings - 1) % 2];
  Block* block = head.load(std::memory_order_acquire);
  const auto begin = static_cast<std::ptrdiff_t>(in.size());
  for (const Block* one = block; one != nullptr; one = one->next) in.emplace_back();  // room for all, before they leave
  head.store(nullptr, std::memory_order_relaxed);  // nobody sends there before this member's next meeting is over
  for (auto at = in.end(); at != in.begin() + begin;)
    (--at)->reset(std::exchange(block, std::exchange(block->next, nullptr)));
}

void Section::add(const Arrived& arrived) {
  agreement.add(arrived.step, arrived.member, arrived.flags);
  asleep[static_cast<std::size_t>(arrived.member - first)] = arrived.one;
  ++here;
}

void Section::book(const Row& row, std::int64_t span, bool keep_row) {
  if (!std::exchange(any, true)) step = row.step;
  if (row.step != step) return others.push_back({row, span});
  merge(sum, row, keep_row);
  sum.span_nanoseconds += span;
}

/// What all of them cost goes to the books; ready for the next superstep.
void Section::pay(MachineCosts& costs, bool keep_rows) {
  if (std::exchange(any, false)) {
    if (costs.supersteps.size() <= step) costs.supersteps.resize(step + 1);
    merge(costs.supersteps[step], sum);
    sum = {};
  }
  for (const Booking& booking : others) merge(costs, booking, keep_rows);
  others.clear();
  agreement = {};
  here = 0;
}

}  // namespace chasqui::bsp::detail
