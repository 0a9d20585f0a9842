// SPDX-License-Identifier: MIT
#include "cli/plans/exact.hpp"

#include "chasqui/base/error.hpp"
#include "chasqui/solve/atlas.hpp"
#include "chasqui/solve/cluster.hpp"
#include "cli/frame/interrupt.hpp"

namespace chasqui::cli {
namespace {

constexpr std::int64_t kLargestInAtlas = 62;  ///< ranks are digits in base 62

plan::PlanPtr better(const plan::PlanPtr& plan, const plan::PlanPtr& other) {
  if (!other || other->claim().finish > plan->claim().finish) return plan;
  return other->claim().finish < plan->claim().finish || other->claim().bound > plan->claim().bound ? other : plan;
}

}  // namespace

void watch(solve::Options& options, Progress& bar, const std::string& what) {
  options.interrupted = [] { return Interrupt::asked(); };
  options.progress = [&bar, what](const solve::Progress& progress) {
    if (progress.seconds < 1) return;
    bar.say(fmt::format("{}{:.1f} s  {}  bound {}  best {}{}", what, progress.seconds, progress.engine,
                        progress.bound.ticks, progress.best ? fmt::format("{}", progress.best->ticks) : "none",
                        progress.asking ? fmt::format("  deciding {}", progress.asking->ticks) : ""));
  };
}

plan::PlanPtr improve_by_atlas(const plan::PlanPtr& plan) {
  if (plan->claim().optimal() || plan->machine().P > kLargestInAtlas) return plan;
  return better(
      plan, solve::plan_from_atlas({.machine = plan->machine(), .problem = plan->problem(), .nodes = plan->nodes()}));
}

plan::PlanPtr improve_by_search(const plan::PlanPtr& plan, double seconds) {
  const plan::PlanPtr known = improve_by_atlas(plan);
  if (known->claim().optimal()) return known;
  if (plan->problem().kind == Kind::stream) {
    throw Error("--exact has no meaning for a stream: `chasqui solve stream` asks for a period");
  }
  const Interrupt interrupt;
  Progress bar("searching");
  solve::Options options;
  options.time_limit = seconds;
  watch(options, bar);
  if (!plan->nodes().empty())
    return solve::with_answer(plan,
                              solve::solve_on_cluster({plan->machine(), plan->nodes()}, plan->problem(), options));
  const solve::Instance instance{
      .machine = plan->machine(), .problem = plan->problem(), .two_values = !plan->problem().commutative};
  solve::validate(instance);
  const solve::Answer answer = solve::solve(instance, options);
  return answer.best ? better(known, solve::plan_from_answer(instance, answer)) : known;
}

}  // namespace chasqui::cli
