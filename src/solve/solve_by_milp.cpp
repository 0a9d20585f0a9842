// SPDX-License-Identifier: MIT
// The integer programming engine: one program per horizon, minimised by CBC.
#include <algorithm>
#include <cmath>

#include "chasqui/solve/integer_program.hpp"
#include "solve/milp.hpp"
#include "solve/search.hpp"

namespace chasqui::solve {

Answer solve_by_milp(const Instance& instance, const Options& options) {
  Search search(instance, options, "milp");
  Time slack = std::max(instance.machine.gap(), Time{2});
  while (!search.decided() && !search.out_of_time()) {
    const Time bound = search.bound();
    const Time horizon = std::min(bound + slack, search.ceiling().value_or(kNoCeiling));
    slack = 2 * slack;
    search.asking(horizon);
    const std::unique_ptr<IntegerProgram> program = integer_program(instance, bound, horizon);
    const double left = options.time_limit > 0 ? std::max(0.001, options.time_limit - search.seconds()) : 0;
    const MilpResult result = minimise(program->program(), left, search.stop());
    if (result.verdict == Verdict::unsatisfiable)
      search.refuted(horizon, Evidence::search, "integer program infeasible");
    if (result.verdict != Verdict::satisfiable) continue;
    search.found(program->decode(result.point));
    const auto proved = static_cast<std::int64_t>(result.optimal ? (objective(search.best()) - bound).ticks
                                                                 : std::ceil(result.objective_bound - 1e-6));
    if (proved > 0) search.refuted(bound + Time{proved - 1}, Evidence::search, "integer program");
  }
  return search.answer();
}

}  // namespace chasqui::solve
