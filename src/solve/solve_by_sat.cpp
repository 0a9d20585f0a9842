// SPDX-License-Identifier: MIT
// The SAT engine. One formula for all finish times up to a horizon, one incremental solver, one assumption per question.
// Questions go to the bound (to raise it) and to one less than the best (to lower it), with growing conflict budgets, so that
// neither side starves. An all-gather begins with its traffic, which mostly settles it.
#include <algorithm>

#include "chasqui/solve/encoding.hpp"
#include "solve/sat.hpp"
#include "solve/search.hpp"
#include "solve/traffic.hpp"

namespace chasqui::solve {
namespace {

constexpr std::int64_t kFirstBudget = 20'000;

class Incremental {
 public:
  Incremental(const Instance& instance, Time horizon, const Search& search)
      : encoding_(encode(instance, horizon)), solver_(encoding_->cnf()) {
    if (search.has_best()) warm_start(search);
  }

  Time horizon() const { return encoding_->horizon(); }

  /// Is there a schedule that finishes by T? Tells the search what comes out.
  Verdict ask(Time T, std::int64_t budget, Search& search) {
    search.asking(T);
    const Verdict verdict = solver_.decide(encoding_->finish_by(T), budget, search.stop());
    if (verdict == Verdict::satisfiable) {
      search.found(encoding_->decode([this](Literal literal) { return solver_.value(literal); }));
    }
    if (verdict == Verdict::unsatisfiable) search.refuted(T, Evidence::search, "unsatisfiable");
    return verdict;
  }

 private:
  /// The best schedule is later than the horizon; the part of it that fits guides the solver.
  void warm_start(const Search& search) {
    Schedule schedule = canonical(search.instance(), search.best());
    const LogP& machine = schedule.machine;
    std::erase_if(schedule.sends, [&](const Send& send) {
      const Time birth_time = schedule.problem.kind == Kind::stream ? birth(search.instance(), send.part.lo) : Time{0};
      return available(machine, send) - birth_time > horizon();
    });
    solver_.prefer(encoding_->describe(schedule));
  }

  std::unique_ptr<Encoding> encoding_;
  SatSolver solver_;
};

/// A formula for finish times from the search's bound on, `slack` wide, but not beyond what is worth asking.
std::unique_ptr<Incremental> questions_for(const Instance& instance, const Search& search, Time slack) {
  const Time horizon = std::min(search.bound() + slack, search.ceiling().value_or(kNoCeiling));
  return std::make_unique<Incremental>(instance, horizon, search);
}

}  // namespace

Answer solve_by_sat(const Instance& instance, const Options& options) {
  Search search(instance, options, "sat");
  if (options.traffic) search_by_traffic(search);
  std::unique_ptr<Incremental>
      rising;  // raises the bound; most optima meet the first one, so its first formula is tight
  std::unique_ptr<Incremental> falling;  // lowers the best, or finds a first one
  const Time step = std::max(instance.machine.gap(), Time{2});
  Time rising_slack{0};
  Time falling_slack = step;
  for (std::int64_t budget = kFirstBudget; !search.decided() && !search.out_of_time(); budget *= 2) {
    Verdict verdict = Verdict::unsatisfiable;
    while (!search.decided() && verdict == Verdict::unsatisfiable) {
      if (!rising || rising->horizon() < search.bound()) {
        rising = questions_for(instance, search, rising_slack);
        rising_slack = std::max(2 * rising_slack, step);
      }
      verdict = rising->ask(search.bound(), budget, search);
    }
    if (search.decided() || search.out_of_time()) break;
    if (!falling || (!search.has_best() && falling->horizon() < search.bound() + falling_slack)) {
      falling = questions_for(instance, search, falling_slack);
    }
    const Time later = std::min(search.ceiling().value_or(kNoCeiling), falling->horizon());
    if (later > search.bound()) falling->ask(later, budget, search);
    if (!search.has_best()) falling_slack = 2 * falling_slack;
  }
  return search.answer();
}

}  // namespace chasqui::solve
