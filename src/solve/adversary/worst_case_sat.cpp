// SPDX-License-Identifier: MIT
// Is there a play that is later? One formula for each lateness, from the best known on, until there is none.
#include <algorithm>

#include "chasqui/base/error.hpp"
#include "solve/adversary/lateness.hpp"
#include "solve/adversary/play_formula.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

WorstCase worst_case_sat(const Schedule& schedule, const AdversaryOptions& options, WorstCase best) {
  if (!sat_available())
    throw Error("the exact adversary by SAT needs CaDiCaL: install libcadical-dev and configure again");
  if (!schedule.adds.empty()) throw Error("the exact adversary plays messages only: use the heuristic for sums");
  const simulate::Program program(schedule);
  const Time o = schedule.machine.o;
  const std::vector<Time> due = due_times(program.schedule(), options.lateness);
  if (best.latencies.empty()) {
    best.latencies.assign(due.size(), schedule.machine.L);
    best.order.assign(due.size(), 0);
  }
  best.nominal = nominal_finish(schedule);
  best.exact = false;
  best.how = "the worst that SAT found in time";
  const auto conflicts = static_cast<std::int64_t>(std::clamp<std::uint64_t>(options.conflicts, 1, 1'000'000'000));
  for (best.explored = 1;; ++best.explored) {
    const Time aim = best.late + Time{1};
    Time horizon{0};
    for (const Time time : due) horizon = std::max(horizon, time + aim - o);
    PlayFormula formula(program, options.low, horizon);
    PlayFormula::Clause somebody_late;
    for (std::uint32_t m = 0; m < due.size(); ++m) {
      somebody_late.push_back(-formula.received_by(m, due[m] + aim - o - Time{1}));
    }
    formula.require(somebody_late);
    SatSolver solver(formula.cnf());
    const Verdict verdict = solver.decide({}, conflicts, {});
    if (verdict == Verdict::unsatisfiable) {
      best.exact = true;
      best.how = "by SAT";
    }
    if (verdict != Verdict::satisfiable) return best;
    formula.read([&](Literal literal) { return solver.value(literal); }, best);
    const Time late = lateness_of(replay(schedule, best), due);
    CHASQUI_CHECK(late >= aim, "late={} aim={}", late.ticks, aim.ticks);
    best.late = late;
    if (late >= options.enough) return best;
  }
}

}  // namespace chasqui::solve
