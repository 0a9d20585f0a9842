// SPDX-License-Identifier: MIT
#include "bsp/processes/packed_accounts.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace chasqui::bsp::detail {

void pack(const MachineCosts& costs, Buffer& out) {
  const std::uint64_t head[] = {costs.id, costs.parent, costs.split, static_cast<std::uint64_t>(costs.size),
                                costs.supersteps.size()};
  std::memcpy(out.extend(sizeof head), head, sizeof head);
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
    std::memcpy(out.extend(sizeof numbers), numbers, sizeof numbers);
    if (!step.rows.empty())
      std::memcpy(out.extend(step.rows.size() * sizeof(Row)), step.rows.data(), step.rows.size() * sizeof(Row));
  }
}

std::map<std::uint64_t, MachineCosts> unpack_accounts(std::span<const std::byte> bytes) {
  std::map<std::uint64_t, MachineCosts> accounts;
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
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
    const auto [found, fresh] = accounts.try_emplace(costs.id, costs);
    if (!fresh) merge(found->second, costs);
  }
  return accounts;
}

Ledger ledger_of(const std::map<std::uint64_t, MachineCosts>& accounts, std::int64_t processors) {
  std::vector<MachineCosts> machines;
  machines.reserve(accounts.size());
  for (const auto& [id, costs] : accounts) machines.push_back(costs);
  return {processors, 0, arrange(std::move(machines))};
}

}  // namespace chasqui::bsp::detail
