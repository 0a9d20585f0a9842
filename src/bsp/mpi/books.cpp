// SPDX-License-Identifier: MIT
#include "bsp/mpi/books.hpp"

#include <utility>
#include <vector>

#include "bsp/processes/packed_accounts.hpp"

namespace chasqui::bsp::detail {

MachineCosts& MpiBooks::open(const GroupInfo& info) {
  speaker_[info.id] = info.members.at(0);
  return accounts_.try_emplace(info.id, info.costs()).first->second;
}

void MpiBooks::report(const GroupInfo& info, std::span<const Booking> rows, bool keep_rows) {
  if (rows.empty()) return;
  MachineCosts& costs = leftovers_.try_emplace(info.id, info.costs()).first->second;
  for (const Booking& row : rows) merge(costs, row, keep_rows);
}

Ledger MpiBooks::ledger(std::int32_t processors) const { return ledger_of(accounts_, processors); }

void MpiBooks::pack_for_others(std::int32_t rank, Buffer& out) const {
  for (const auto& [id, costs] : accounts_) {
    if (speaker_.at(id) == rank) pack(costs, out);
  }
  for (const auto& [id, costs] : leftovers_) pack(costs, out);
}

}  // namespace chasqui::bsp::detail
