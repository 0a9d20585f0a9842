// SPDX-License-Identifier: MIT
// All-to-all in turns: ranks are dealt to m classes, and in each block a class sends to one other class only, so that its send
// overheads and receive overheads interlock as in a ring; what is left, inside the classes, is done in the same way (exchange.md,
// Theorem 19).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "plan/exchange/symmetric_times.hpp"

namespace chasqui::plan {

/// On level j a rank is (class, column), m classes and columns[j] columns; a column is a rank of the next level. Classes that are not full
/// leave messages out. After the last level the remaining ranks of a class send at common times.
struct AlltoallTurns {
  std::int64_t m = 2;                  ///< a prime
  std::int64_t period = 1;             ///< between two sends of a block
  std::vector<std::int64_t> offset{};  ///< of the classes in a block from each class to the next
  std::vector<std::int64_t> columns{};
  std::vector<std::int64_t> start{};  ///< of each level, and of the rest
  std::int64_t pause = 1;             ///< from the last send of a block to the next block
  SymmetricTimes rest{};              ///< of columns.back() >= 2 ranks
  std::int64_t last_send = 0;
};

/// The best turns, if any end before a last send at `unless_by`. REQUIRES P >= 2, o > 0. Time: O(log P) searches for common times.
std::optional<AlltoallTurns> best_turns(const LogP& machine, std::int64_t items, std::int64_t unless_by);

PlanPtr alltoall_in_turns(const LogP& machine, const Problem& problem, Claim claim, AlltoallTurns turns);

}  // namespace chasqui::plan
