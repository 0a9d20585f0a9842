// SPDX-License-Identifier: MIT
// The plan of a kernel: steady state and endgame expanded for k items. A rank needs its phase and the table.
#pragma once

#include <cstdint>
#include <vector>

#include "chasqui/plan/plan.hpp"
#include "plan/kernel/endgame.hpp"
#include "plan/kernel/kernel.hpp"

namespace chasqui::plan::kernel {

class KernelPlan final : public Plan {
 public:
  /// `step`: ticks of a postal step. REQUIRES a kernel of P-1 receivers without errors, k >= kappa and k > k*.
  KernelPlan(const LogP& machine, const Problem& problem, Claim claim, Kernel kernel, Time step);

  LocalForm local(Rank rank) const override;
  /// Time: O(kP), one pass in canonical order.
  Schedule schedule() const override;

 private:
  /// A phase of a group: where its rank sends to and receives from, as phases numbered group by group.
  struct Phase {
    std::int32_t send = kNone;  ///< S
    std::int32_t receive = 0;   ///< H
    std::int32_t to = kNone;    ///< the phase that receives what this one sends
    std::int32_t from = kNone;  ///< the phase that sends what this one receives; kNone: the source
  };
  struct Ring {
    std::int32_t first = 0;  ///< number of its first phase, and of its first receiver
    std::int32_t size = 1;
  };

  void pair_phases();
  std::int32_t receiver_in(std::int32_t phase, std::int64_t t) const;  ///< who is in this phase at step t
  Rank rank_of(std::int32_t receiver) const;
  std::int32_t role_of(std::int32_t receiver) const;
  std::int32_t receiver_of_role(std::int32_t role) const;
  void expand_step(std::int64_t t, std::vector<Send>& buffer, std::vector<Send>& all) const;
  void expand_window(std::vector<Send>& buffer, std::vector<Send>& out) const;
  Send message(std::int64_t t, std::int32_t from, std::int32_t to, std::int64_t item) const;

  Kernel kernel_;
  Shape shape_;
  Time step_;
  std::int64_t K_;  ///< items before the window
  std::vector<Phase> phases_;
  std::vector<Ring> rings_;
  std::vector<std::int32_t> ring_of_;  ///< by phase or receiver
  std::int32_t top_ = 0;               ///< the phase that the source serves
  std::vector<StepSend> window_;
};

}  // namespace chasqui::plan::kernel
