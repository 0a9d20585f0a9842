// SPDX-License-Identifier: MIT
// A solver's outcome. Three values that never mix: a time-out is no proof.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::solve {
/// What is known when a search ends.
enum class Status {
  optimal,     ///< `best` finishes at `bound`
  infeasible,  ///< no schedule finishes within the limit that was asked for
  unknown,     ///< stopped: the optimum lies in [bound, finish of best]
};

/// What a bound rests on.
enum class Evidence {
  argument,  ///< a few lines of arithmetic
  traffic,   ///< all ways to use the ports of all ranks, counted through (docs/solve.md, Traffic)
  search,    ///< an unsatisfiable formula or an infeasible integer program
};
/// The outcome of a search; a time-out is never a proof.
struct Answer {
  Status status = Status::unknown;
  std::optional<Schedule> best;  ///< the best schedule found, verified; its `bound` is the bound below
  Time bound;                    ///< no legal schedule finishes earlier (stream: with this period, has a smaller delay)
  std::string bound_source;      ///< "counting", "unsatisfiable at 11", …
  Evidence evidence = Evidence::argument;
  std::string stopped;  ///< unknown: why ("time limit", "interrupted")
  double seconds = 0;   ///< from the question to the answer
};

std::string_view to_string(Status status);      ///< "optimal", "infeasible" or "unknown"
std::string_view to_string(Evidence evidence);  ///< one word

/// The quantity that is minimised: the finish, in a stream the delay.
inline Time objective(const Schedule& schedule) {
  return schedule.problem.kind == Kind::stream ? schedule.delay : schedule.finish;
}

}  // namespace chasqui::solve
