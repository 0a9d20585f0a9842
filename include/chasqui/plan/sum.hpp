// SPDX-License-Identifier: MIT
// Summation of n operands that the plan places: one addition a tick, local additions fill the time between messages.
// The tree is the universal one of latency L + 1 and gap max(g, o + 1), reversed; every rank works until it sends.
// Order is kept: placement() says which operands a rank holds, so the operator need not commute.
#pragma once

#include <memory>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// Operands position .. position+count-1 of the sequence to be folded.
struct OperandRange {
  std::int64_t position = 0;  ///< first operand, counted from the left
  std::int64_t count = 0;     ///< how many

  friend constexpr auto operator<=>(const OperandRange&, const OperandRange&) = default;
};
/// A plan that also says where operands lie. Whoever remembers something of it can tell whether it still lives (weak_from_this).
class SumPlan : public Plan, public std::enable_shared_from_this<SumPlan> {
 public:
  /// How many operands are folded.
  virtual std::int64_t operands() const = 0;
  /// How many ranks hold operands: ranks 0 .. participants()-1; the others would cost more than they bring.
  virtual std::int64_t participants() const = 0;
  /// The operands of one rank, left to right; between them lie those of the ranks that report to it.
  virtual std::vector<OperandRange> placement(Rank rank) const = 0;

 protected:
  using Plan::Plan;  ///< for the construction
};

/// n(t): the most operands that can be folded in t ticks, saturating at 2^63 - 1 (trees.md, Theorem 10).
std::int64_t most_operands(const LogP& machine, Time t);

/// The least t with n(t) >= n. REQUIRES n >= 1.
Time least_sum_time(const LogP& machine, std::int64_t n);

/// The most operands in t ticks. Throws an Error for t < 0 or a count beyond 2^63.
std::shared_ptr<const SumPlan> sum(const LogP& machine, Time t, bool commutative = true);

/// n operands in the least time. Throws an Error for n < 1.
std::shared_ptr<const SumPlan> sum_operands(const LogP& machine, std::int64_t n, bool commutative = true);

}  // namespace chasqui::plan
