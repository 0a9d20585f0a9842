// SPDX-License-Identifier: MIT
#include "chasqui/bsp/ledger.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace chasqui::bsp {

namespace {

void take_max(std::int64_t& into, std::int64_t value) { into = std::max(into, value); }

}  // namespace

void merge(Superstep& step, const Row& row, bool keep_row) {
  take_max(step.nanoseconds, row.nanoseconds);
  take_max(step.work, row.work);
  take_max(step.messages, std::max(row.sent_messages, row.received_messages));
  take_max(step.blocks, std::max(row.sent_blocks, row.received_blocks));
  take_max(step.bytes, std::max(row.sent_bytes, row.received_bytes));
  step.total_messages += row.sent_messages;
  step.total_blocks += row.sent_blocks;
  step.total_bytes += row.sent_bytes;
  if (keep_row) step.rows.push_back(row);
}

void merge(MachineCosts& machine, const Row& row, bool keep_row) {
  if (machine.supersteps.size() <= row.step) machine.supersteps.resize(row.step + 1);
  merge(machine.supersteps[row.step], row, keep_row);
}

void merge(Superstep& step, const Superstep& other) {
  take_max(step.nanoseconds, other.nanoseconds), take_max(step.work, other.work);
  take_max(step.messages, other.messages), take_max(step.blocks, other.blocks), take_max(step.bytes, other.bytes);
  take_max(step.span_nanoseconds, other.span_nanoseconds);
  step.total_messages += other.total_messages, step.total_blocks += other.total_blocks;
  step.total_bytes += other.total_bytes;
  step.rows.insert(step.rows.end(), other.rows.begin(), other.rows.end());
}

void merge(MachineCosts& machine, const MachineCosts& other) {
  if (machine.supersteps.size() < other.supersteps.size()) machine.supersteps.resize(other.supersteps.size());
  for (std::size_t t = 0; t < other.supersteps.size(); ++t) merge(machine.supersteps[t], other.supersteps[t]);
}

std::vector<MachineCosts> arrange(std::vector<MachineCosts> machines) {
  std::map<std::uint64_t, std::vector<MachineCosts*>> children;
  for (MachineCosts& machine : machines) {
    children[machine.parent].push_back(&machine);
    for (Superstep& step : machine.supersteps) {
      std::sort(step.rows.begin(), step.rows.end(), [](const Row& a, const Row& b) { return a.rank < b.rank; });
    }
  }
  std::vector<MachineCosts> arranged;
  arranged.reserve(machines.size());
  const auto visit = [&](const auto& self, MachineCosts& machine) -> void {
    const std::size_t place = arranged.size();
    arranged.push_back(std::move(machine));
    if (const auto found = children.find(arranged[place].id); found != children.end()) {
      std::sort(found->second.begin(), found->second.end(), [](const MachineCosts* a, const MachineCosts* b) {
        return std::pair(a->split, a->id) < std::pair(b->split, b->id);
      });
      for (MachineCosts* child : found->second) self(self, *child);
    }
    const bool idle = arranged[place].supersteps.empty() && arranged.size() == place + 1;
    if (idle && arranged[place].parent != 0) arranged.pop_back();
  };
  for (MachineCosts* whole : children[0]) visit(visit, *whole);
  return arranged;
}

}  // namespace chasqui::bsp
