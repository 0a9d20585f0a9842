// SPDX-License-Identifier: MIT
#include "chasqui/solve/solve.hpp"

#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/reversed_plan.hpp"
#include "solve/milp.hpp"
#include "solve/sat.hpp"
#include "solve/search.hpp"

namespace chasqui::solve {
namespace {

Time best_of(const Answer& answer) { return answer.best ? objective(*answer.best) : kNoCeiling; }

void require_engine(Engine engine) {
  if (available(engine)) return;
  if (engine != Engine::milp && !sat_available()) {
    throw Error("this build has no SAT solver: install libcadical-dev and configure again{}",
                engine == Engine::sat && milp_available() ? ", or use --engine milp" : "");
  }
  throw Error("this build has no MILP solver: install coinor-libcbc-dev and configure again{}",
              sat_available() ? ", or use --engine sat" : "");
}

std::string in_words(const Answer& answer) {
  return fmt::format("{}, {}, bound {} ({})", to_string(answer.status),
                     answer.best ? fmt::format("best {}", objective(*answer.best).ticks) : "no schedule",
                     answer.bound.ticks, answer.bound_source);
}

/// Without a look at the clock.
Answer solve_as_is(const Instance& instance, const Options& options) {
  if (options.engine == Engine::sat) return solve_by_sat(instance, options);
  if (options.engine == Engine::milp) return solve_by_milp(instance, options);
  const Answer sat = solve_by_sat(instance, options);
  const Answer milp = solve_by_milp(instance, options);
  check_agreement(instance, sat, milp);
  Answer answer = best_of(milp) < best_of(sat) ? milp : sat;
  if (milp.bound > sat.bound) {
    answer.bound = milp.bound;
    answer.bound_source = milp.bound_source;
    answer.evidence = milp.evidence;
  }
  if (sat.status != Status::unknown || milp.status != Status::unknown) {
    answer.status = sat.status != Status::unknown ? sat.status : milp.status;
    answer.stopped.clear();
  }
  if (answer.best) answer.best->bound = answer.bound;
  answer.seconds = sat.seconds + milp.seconds;
  return answer;
}

/// The answer on the clock of the original instance, which ticks c times as often.
Answer refined(Answer answer, const Instance& instance, std::int64_t c) {
  answer.bound = c * answer.bound;
  if (answer.evidence != Evidence::argument) answer.bound_source += fmt::format(" (in units of {} ticks)", c);
  if (!answer.best) return answer;
  Schedule& schedule = *answer.best;
  schedule.machine = instance.machine;
  schedule.bound = answer.bound;
  schedule.finish = c * schedule.finish;
  schedule.delay = c * schedule.delay;
  schedule.period = instance.period;
  for (Send& send : schedule.sends) send.begin = c * send.begin;
  const Report report = verify(schedule);
  CHASQUI_CHECK(report.legal(), "{}: {}", to_string(instance), chasqui::to_string(report));
  return answer;
}

}  // namespace

void check_agreement(const Instance& instance, const Answer& sat, const Answer& milp) {
  if (sat.bound <= best_of(milp) && milp.bound <= best_of(sat)) return;
  throw Error("the engines disagree on {}: sat says {}; milp says {}: one of them is wrong, please report this line",
              to_string(instance), in_words(sat), in_words(milp));
}

bool available(Engine engine) {
  return (engine == Engine::milp || sat_available()) && (engine == Engine::sat || milp_available());
}

Answer solve(const Instance& instance, const Options& options) {
  validate(instance);
  require_engine(options.engine);
  if (const Instance forward = forwards(instance); forward != instance) {
    Answer answer = solve(forward, options);
    if (answer.best) answer.best = plan::backwards(std::move(*answer.best), instance.problem);
    CHASQUI_CHECK(!answer.best || verify(*answer.best).legal(), "{}", to_string(instance));
    return answer;
  }
  const std::int64_t c = scale(instance);
  if (c == 1) return solve_as_is(instance, options);
  Options coarse = options;
  if (options.at_most) coarse.at_most = Time{options.at_most->ticks / c};
  if (options.progress) {
    coarse.progress = [&](Progress progress) {
      progress.bound = c * progress.bound;
      if (progress.best) progress.best = c * *progress.best;
      if (progress.asking) progress.asking = c * *progress.asking;
      options.progress(progress);
    };
  }
  return refined(solve_as_is(coarsened(instance), coarse), instance, c);
}

}  // namespace chasqui::solve
