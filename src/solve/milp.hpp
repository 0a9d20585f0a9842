// SPDX-License-Identifier: MIT
// CBC behind a small door: nothing else includes it.
#pragma once

#include "chasqui/solve/program.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

bool milp_available();

struct MilpResult {
  Verdict verdict = Verdict::unknown;  ///< satisfiable: a point was found; unsatisfiable: there is none
  bool optimal = false;                ///< the point is proved best
  Point point;
  double objective_bound = 0;  ///< no point has a smaller objective; meaningful unless unsatisfiable
};

/// Minimises the program's objective. `seconds` (0: none) and `stop` end it early. REQUIRES milp_available().
MilpResult minimise(const Program& program, double seconds, const Stop& stop);

}  // namespace chasqui::solve
