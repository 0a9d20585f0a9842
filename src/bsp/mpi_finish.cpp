// SPDX-License-Identifier: MIT
// How a program over MPI ends, well or not: the ledgers come together, or everybody learns of the failure.
#include <sched.h>

#include <cstring>

#include "bsp/mpi_endpoint.hpp"

namespace chasqui::bsp::detail {

namespace {

constexpr std::uint64_t kFinishGroup = 2;  ///< everybody, after the program

}  // namespace

void MpiEndpoint::report(const GroupInfo& info, std::span<const Row> rows) {
  if (rows.empty()) return;
  MachineCosts& costs = leftovers_[info.id];
  costs.id = info.id, costs.parent = info.parent, costs.split = info.split, costs.size = info.members.count;
  for (const Row& row : rows) merge(costs, row, options_.per_processor_costs);
}

Ledger MpiEndpoint::ledger() {
  std::vector<MachineCosts> machines;
  for (const auto& [id, costs] : accounts_) {
    if (id != kFinishGroup) machines.push_back(costs);
  }
  return {size_, 0, arrange(std::move(machines))};
}

Ledger MpiEndpoint::finish(double seconds) {
  finished_ = true;
  GroupInfo everybody;
  everybody.id = kFinishGroup;
  everybody.members.count = size_;
  const GroupPtr group = open(everybody);
  // What others do not know: the accounts this rank speaks for, and rows that no barrier carried.
  Buffer bytes;
  const auto pack = [&](const MachineCosts& costs) {
    const std::uint64_t head[] = {costs.id, costs.parent, costs.split, static_cast<std::uint64_t>(costs.size),
                                  costs.supersteps.size()};
    std::memcpy(bytes.extend(sizeof head), head, sizeof head);
    for (const Superstep& step : costs.supersteps) {
      const std::int64_t numbers[] = {step.nanoseconds,
                                      step.work,
                                      step.messages,
                                      step.blocks,
                                      step.bytes,
                                      step.total_messages,
                                      step.total_blocks,
                                      step.total_bytes,
                                      step.span_nanoseconds,
                                      static_cast<std::int64_t>(step.rows.size())};
      std::memcpy(bytes.extend(sizeof numbers), numbers, sizeof numbers);
      if (!step.rows.empty())
        std::memcpy(bytes.extend(step.rows.size() * sizeof(Row)), step.rows.data(), step.rows.size() * sizeof(Row));
    }
  };
  for (const auto& [id, costs] : accounts_) {
    if (speaker_[id] == rank_) pack(costs);
  }
  for (const auto& [id, costs] : leftovers_) pack(costs);
  for (std::int32_t to = 0; to < size_; ++to) {
    auto block = std::make_unique<Block>();
    block->channel = {kFinishGroup, 0, Lane::ledger};
    block->from = rank_;
    if (!bytes.empty()) std::memcpy(block->payload.extend(bytes.size()), bytes.data(), bytes.size());
    post(to, std::move(block));
  }
  barrier(*group, {0, 0, rank_, {}}, Waiting{});
  std::map<std::uint64_t, MachineCosts> merged;
  for (const BlockPtr& owner : ledgers_) {
    const std::byte* at = owner->payload.data();
    const std::byte* const end = at + owner->payload.size();
    while (at < end) {
      std::uint64_t head[5];
      std::memcpy(head, at, sizeof head);
      at += sizeof head;
      MachineCosts costs{head[0], head[1], head[2], static_cast<std::int64_t>(head[3]), {}};
      costs.supersteps.resize(head[4]);
      for (Superstep& step : costs.supersteps) {
        std::int64_t n[10];
        std::memcpy(n, at, sizeof n);
        at += sizeof n;
        step = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], std::vector<Row>(static_cast<std::size_t>(n[9]))};
        if (n[9] > 0) std::memcpy(step.rows.data(), at, step.rows.size() * sizeof(Row));
        at += step.rows.size() * sizeof(Row);
      }
      const auto [found, fresh] = merged.try_emplace(costs.id, costs);
      if (!fresh) merge(found->second, costs);
    }
  }
  accounts_ = std::move(merged);
  Ledger all = ledger();
  all.seconds = seconds;
  return all;
}

void MpiEndpoint::abandon(Fault fault, const std::string& text) {
  RecordHead head;
  if (!aborted_) {
    aborted_ = true;
    head.record = Record::abort;
    head.index = static_cast<std::uint32_t>(fault);
    for (std::int32_t to = 0; to < size_; ++to) {
      if (to != rank_) send_control(to, head, std::as_bytes(std::span(text)));
    }
  }
  head.record = Record::goodbye;
  for (std::int32_t to = 0; to < size_; ++to) {
    if (to != rank_) send_control(to, head, {});
  }
  // Nobody sends after its goodbye, and messages of one sender keep their order.
  while (goodbyes_ < size_ - 1 || !flying_.empty()) {
    if (!progress()) sched_yield();
    reap();
  }
}

}  // namespace chasqui::bsp::detail
