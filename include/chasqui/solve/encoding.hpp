// SPDX-License-Identifier: MIT
// "Is there a schedule that finishes by T?" as a formula. Satisfying assignments are schedules; docs/solve.md has the
// argument that every legal schedule, suitably renamed, is a satisfying assignment. One file per family of problems:
// encode_items.cpp (broadcast, all-gather, stream) and encode_folds.cpp (reduce, all-reduce, scan).
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/solve/cnf.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {

/// The value of a literal in a satisfying assignment.
using Model = std::function<bool(Literal)>;
/// Is there a schedule that ends by the horizon, as clauses?
class Encoding {
 public:
  virtual ~Encoding() = default;

  const Cnf& cnf() const { return cnf_; }    ///< clauses that hold for every schedule by the horizon
  Time horizon() const { return horizon_; }  ///< latest finish that is asked for

  /// Literal t: a send may begin at step t. False from some step on.
  const std::vector<Literal>& allowed() const { return allowed_; }

  /// Literals to assume for "finish by T", T <= horizon (stream: delay at most T).
  std::vector<Literal> finish_by(Time T) const;

  /// The schedule of a satisfying assignment, in canonical order, with its true finish. `bound` is left 0.
  virtual Schedule decode(const Model& model) const = 0;

  /// The variables that a schedule fixes, as true literals and their false rest. REQUIRES canonical(schedule) and a
  /// finish within the horizon. For warm starts, and for the test that no legal schedule was lost.
  virtual std::vector<Literal> describe(const Schedule& schedule) const = 0;

 protected:
  Encoding(const Instance& instance, Time horizon);  ///< for the two encodings

  /// Index of the last send step that meets the horizon; -1 if none.
  std::int64_t last_step() const { return (horizon_ - instance_.machine.lambda()).ticks; }

  Instance instance_;
  Time horizon_;
  Cnf cnf_;
  std::vector<Literal> allowed_;  ///< allowed_[t]: a send may begin at step t
};

/// The formula of the instance for finish times up to the horizon.
/// Size: O(items · P · horizon) variables; folds: O(P^4 · horizon). Deterministic: the same instance and horizon give
/// the same formula, literal for literal, which certificates rely on.
std::unique_ptr<Encoding> encode(const Instance& instance, Time horizon);

/// The same schedule with ranks and items renamed, and begun at time 0, so that it obeys the symmetry breaking of the
/// formula. A legal schedule stays legal.
Schedule canonical(const Instance& instance, Schedule schedule);

}  // namespace chasqui::solve
