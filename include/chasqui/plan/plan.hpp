// SPDX-License-Identifier: MIT
// What every planner returns: a machine, a problem, a claim, and two ways to read the plan: what one rank does,
// mostly without a table of size P or of size T, and the whole schedule as a value.
#pragma once

#include <memory>
#include <string>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::plan {

/// No legal schedule finishes earlier, and the argument in a few words.
struct Bound {
  Time time;
  std::string source;
};

/// How good a plan is, and who says so. "Optimal" is printed only when finish equals bound.
struct Claim {
  Time finish;               ///< when everybody has what was promised
  Time bound;                ///< no legal schedule finishes earlier
  std::string bound_source;  ///< the argument behind the bound: "one processor", "a step moves …"
  std::string construction;  ///< how the schedule was made: "universal tree", "ring of 3 classes", …

  bool optimal() const { return finish == bound; }  ///< proved, not hoped
  Time gap() const { return finish - bound; }       ///< how far the schedule may be from the optimum
};

/// One collective on one machine. Immutable; safe to share between threads.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const LogP& machine() const { return machine_; }     ///< the machine it was planned for
  const Nodes& nodes() const { return nodes_; }        ///< the nodes of a cluster; empty on a plain LogP machine
  const Problem& problem() const { return problem_; }  ///< what it achieves
  const Claim& claim() const { return claim_; }        ///< how good it is, and why

  /// What `rank` does. Time and memory: logarithmic in P plus the rank's own messages; a plan that is a list of
  /// messages (few items or ranks, named constructions) looks through all of it.
  virtual LocalForm local(Rank rank) const = 0;

  /// All of it, in canonical order. Built on its own, not from local(), so that each can check the other.
  virtual Schedule schedule() const = 0;

 protected:
  Plan(const LogP& machine, const Problem& problem, Claim claim)
      : machine_(machine), problem_(problem), claim_(std::move(claim)) {}  ///< for the collectives

  /// For those on clusters.
  Plan(const Cluster& cluster, const Problem& problem, Claim claim) : Plan(cluster.base, problem, std::move(claim)) {
    nodes_ = cluster.nodes;
  }

  /// The fields that every schedule() starts from.
  Schedule empty_schedule() const {
    return {machine_, problem_, claim_.finish, claim_.bound, {}, {}, {}, {}, {}, nodes_};
  }

  LogP machine_;     ///< as asked for
  Nodes nodes_{};    ///< as asked for
  Problem problem_;  ///< as asked for
  Claim claim_;      ///< made by the constructor of the collective
};

using PlanPtr = std::shared_ptr<const Plan>;  ///< plans are values that are shared, never changed

}  // namespace chasqui::plan
