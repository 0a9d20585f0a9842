// SPDX-License-Identifier: MIT
// Sums over the tree of machines of a ledger: supersteps follow each other, submachines of one split run side by side.
#pragma once

#include <cstdint>
#include <map>

#include "chasqui/bsp/ledger.hpp"

namespace chasqui::bsp {

/// own(whole machine) and, for each split below it, what take_max keeps of its submachines' sums. Without recursion: ledgers
/// may be nested deeply. REQUIRES parents before children. Time: O(machines · log).
template <typename Sum, typename Own, typename TakeMax>
Sum over_splits(const Ledger& ledger, const Own& own, const TakeMax& take_max) {
  std::map<std::uint64_t, std::map<std::uint64_t, Sum>> splits;  // by machine, then split
  Sum sum{};
  for (auto machine = ledger.machines.rbegin(); machine != ledger.machines.rend(); ++machine) {
    sum = own(*machine);
    if (auto below = splits.extract(machine->id); !below.empty()) {
      for (const auto& [split, largest] : below.mapped()) sum += largest;
    }
    if (machine->parent != 0) take_max(splits[machine->parent][machine->split], sum);
  }
  return sum;
}

}  // namespace chasqui::bsp
