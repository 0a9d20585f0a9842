// SPDX-License-Identifier: MIT
// Is there a play that is later? One formula for each lateness, from the best known on, until there is none.
#include <algorithm>
#include <cadical.hpp>
#include <cstdlib>

#include "chasqui/base/error.hpp"
#include "simulate/lateness.hpp"
#include "simulate/play_formula.hpp"

namespace chasqui::simulate {

bool sat_available() { return true; }

WorstCase worst_case_sat(const Schedule& schedule, const AdversaryOptions& options, WorstCase best) {
  if (!schedule.adds.empty()) throw Error("the exact adversary plays messages only: use the heuristic for sums");
  const Program program(schedule);
  const Time o = schedule.machine.o;
  const std::vector<Time> due = due_times(program.schedule(), options.lateness);
  if (best.latencies.empty()) {
    best.latencies.assign(due.size(), schedule.machine.L);
    best.order.assign(due.size(), 0);
  }
  best.nominal = nominal_finish(schedule);
  best.exact = false;
  best.how = "the worst that SAT found in time";
  for (best.explored = 1;; ++best.explored) {
    const Time aim = best.late + Time{1};
    Time horizon{0};
    for (const Time time : due) horizon = std::max(horizon, time + aim - o);
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    const auto add = [&](const PlayFormula::Clause& clause) {
      for (const int literal : clause) solver.add(literal);
      solver.add(0);
    };
    PlayFormula formula(program, options.low, horizon, add);
    PlayFormula::Clause somebody_late;
    for (std::uint32_t m = 0; m < due.size(); ++m) {
      somebody_late.push_back(-formula.received_by(m, due[m] + aim - o - Time{1}));
    }
    add(somebody_late);
    solver.limit("conflicts", static_cast<int>(std::min<std::uint64_t>(options.conflicts, 1'000'000'000)));
    constexpr int kSatisfiable = 10;
    constexpr int kUnsatisfiable = 20;
    const int verdict = solver.solve();
    if (verdict == kUnsatisfiable) {
      best.exact = true;
      best.how = "by SAT";
    }
    if (verdict != kSatisfiable) return best;
    formula.read([&](int literal) { return (solver.val(std::abs(literal)) > 0) == (literal > 0); }, best);
    const Time late = lateness_of(replay(schedule, best), due);
    CHASQUI_CHECK(late >= aim, "late={} aim={}", late.ticks, aim.ticks);
    best.late = late;
    if (late >= options.enough) return best;
  }
}

}  // namespace chasqui::simulate
