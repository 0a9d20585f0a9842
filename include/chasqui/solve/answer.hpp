// SPDX-License-Identifier: MIT
// A solver's outcome. Three values that never mix: a time-out is no proof.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chasqui/schedule/schedule.hpp"

namespace chasqui::solve {

enum class Status {
  optimal,     ///< `best` finishes at `bound`
  infeasible,  ///< no schedule finishes within the limit that was asked for
  unknown,     ///< stopped: the optimum lies in [bound, finish of best]
};

struct Answer {
  Status status = Status::unknown;
  std::optional<Schedule> best;  ///< the best schedule found, verified; its `bound` is the bound below
  Time bound;                    ///< no legal schedule finishes earlier (stream: with this period, has a smaller delay)
  std::string bound_source;      ///< "counting", "unsatisfiable at 11", …
  bool bound_by_search = false;  ///< the bound rests on a solver, not on an argument alone
  std::string stopped;           ///< unknown: why ("time limit", "interrupted")
  double seconds = 0;
};

std::string_view to_string(Status status);

/// The quantity that is minimised: the finish, in a stream the delay.
inline Time objective(const Schedule& schedule) {
  return schedule.problem.kind == Kind::stream ? schedule.delay : schedule.finish;
}

}  // namespace chasqui::solve
