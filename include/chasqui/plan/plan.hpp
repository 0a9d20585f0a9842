// SPDX-License-Identifier: MIT
// What every planner returns: a machine, a problem, a claim, and two ways to read the plan: what one rank does,
// without a table of size P or of size T, and the whole schedule as a value.
#pragma once

#include <memory>
#include <string>

#include "chasqui/schedule/local_form.hpp"
#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// How good a plan is, and who says so. "Optimal" is printed only when finish equals bound.
struct Claim {
  Time finish;
  Time bound;
  std::string bound_source;  ///< the argument behind the bound: "universal tree (results.md R1)"
  std::string construction;  ///< how the schedule was made: "universal tree", "ring of 3 classes", …

  bool optimal() const { return finish == bound; }
  Time gap() const { return finish - bound; }
};

/// One collective on one machine. Immutable; safe to share between threads.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const LogP& machine() const { return machine_; }
  const Problem& problem() const { return problem_; }
  const Claim& claim() const { return claim_; }

  /// What `rank` does. Time and memory: logarithmic in P plus the rank's own messages.
  virtual LocalForm local(Rank rank) const = 0;

  /// All of it, in canonical order. Built on its own, not from local(), so that each can check the other.
  virtual Schedule schedule() const = 0;

 protected:
  Plan(const LogP& machine, const Problem& problem, Claim claim)
      : machine_(machine), problem_(problem), claim_(std::move(claim)) {}

  /// The fields that every schedule() starts from.
  Schedule empty_schedule() const;

  LogP machine_;
  Problem problem_;
  Claim claim_;
};

using PlanPtr = std::shared_ptr<const Plan>;

}  // namespace chasqui::plan
