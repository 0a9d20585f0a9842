// SPDX-License-Identifier: MIT
// Summation of n operands that the plan has placed: local additions go on while messages are under way, as many
// between two receptions as the plan says (docs/trees.md, Theorem 10). Operands are folded from the right, so that the
// operator need not commute.
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "chasqui/plan/sum.hpp"
#include "chasqui/run/comm.hpp"

namespace chasqui::run {

/// How operands are folded, type-erased: total = first[0] o … o first[count-1] o total.
struct RunOfOperands {
  std::size_t element = 1;  ///< bytes of one operand
  void (*fold)(const void* op, const void* first, std::size_t count,
               void* total) = nullptr;  ///< adds a run of operands to the total
  const void* op = nullptr;             ///< handed to `fold`
};

/// Begins a summation of `count` operands at `mine`; ranks without operands leave `total` alone. Both stay until the
/// request is complete, `kept` is let go then.
Request start_sum(Comm& comm, const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
                  RunOfOperands how, std::shared_ptr<const void> kept);

/// Makes a summation to its end. What a plan asks of this rank is remembered while the plan lives, so that it is worked out once.
void run_sum(Comm& comm, const plan::SumPlan& plan, const void* mine, std::size_t count, void* total,
             RunOfOperands how);

/// By `f`, which must stay until the summation is complete.
template <typename T, typename F>
RunOfOperands folded_by(const F& f) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {sizeof(T),
          [](const void* context, const void* first, std::size_t count, void* fold) {
            const F& op = *static_cast<const F*>(context);
            const T* operands = static_cast<const T*>(first);
            T value = *static_cast<T*>(fold);
            while (count > 0) value = op(operands[--count], value);
            *static_cast<T*>(fold) = value;
          },
          &f};
}

/// Begins a summation. `mine` are this rank's operands in the order of plan.placement(rank); `total` gets the fold of all at
/// rank 0 and of this rank's subtree elsewhere. Operands and total must stay until the request is complete.
template <typename T, typename F = Sum>
Request isum(Comm& comm, const plan::SumPlan& plan, std::span<const T> mine, T& total, F op = {}) {
  const auto kept = std::make_shared<const F>(std::move(op));
  return start_sum(comm, plan, mine.data(), mine.size(), &total, folded_by<T>(*kept), kept);
}

/// Runs a summation to its end. Ranks without operands return T{}.
template <typename T, typename F = Sum>
T sum(Comm& comm, const plan::SumPlan& plan, std::span<const T> mine, F op = {}) {
  T total{};
  run_sum(comm, plan, mine.data(), mine.size(), &total, folded_by<T>(op));
  return total;
}

}  // namespace chasqui::run
