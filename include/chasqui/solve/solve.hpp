// SPDX-License-Identifier: MIT
// The true optimum of a small instance, with evidence. Anytime: whenever it is stopped, the answer holds the best schedule and
// the best bound so far. docs/solve.md tells how.
#pragma once

#include <functional>
#include <optional>

#include "chasqui/solve/answer.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {
/// Which solver.
enum class Engine {
  sat,   ///< one finish time after another
  milp,  ///< an integer program
  both,  ///< and they must agree
};

/// Where a search stands; `asking` is the finish time being decided.
struct Progress {
  double seconds = 0;  ///< since the search began
  Time bound;
  std::optional<Time> best;
  std::optional<Time> asking;  ///< the finish time that is being decided
  std::string_view engine;
};
/// How to search, and for how long.
struct Options {
  Engine engine = Engine::sat;                    ///< both: SAT, then the integer program; an Error if they disagree
  double time_limit = 0;                          ///< seconds; 0: none
  std::optional<Time> at_most;                    ///< is there a schedule that finishes by then? (infeasible, if not)
  bool warm_start = true;                         ///< begin with the best plan
  bool traffic = true;                            ///< sat: all-gathers by their traffic first
  std::function<bool()> interrupted;              ///< polled; true ends the search
  std::function<void(const Progress&)> progress;  ///< told now and then
};

/// The optimum. Time: exponential in the worst case; docs/atlas.md shows what seconds buy.
/// Throws an Error for an instance that `validate` refuses, or if the engine is not part of this build; a
/// disagreement of the two engines is an Error that spells out the instance.
Answer solve(const Instance& instance, const Options& options = {});

/// Is the engine part of this build?
bool available(Engine engine);

/// The best plan for the instance that is a schedule the solver can start from, if there is one.
std::optional<Schedule> best_plan(const Instance& instance);

}  // namespace chasqui::solve
