// SPDX-License-Identifier: MIT
#include "solve/search.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {

namespace {

/// Does the root send an item twice?
bool repeats(const Schedule& schedule) {
  std::vector<std::int32_t> sent;
  for (const Send& send : schedule.sends) {
    if (send.from == schedule.problem.root) sent.push_back(send.part.lo);
  }
  std::sort(sent.begin(), sent.end());
  return std::adjacent_find(sent.begin(), sent.end()) != sent.end();
}

}  // namespace

std::string_view to_string(Status status) {
  return status == Status::optimal ? "optimal" : status == Status::infeasible ? "infeasible" : "unknown";
}

std::string_view to_string(Evidence evidence) {
  return evidence == Evidence::argument ? "argument" : evidence == Evidence::traffic ? "traffic" : "search";
}

std::optional<Schedule> best_plan(const Instance& instance) {
  if (instance.problem.kind == Kind::stream) return std::nullopt;  // a stream's plan chooses its own period
  Schedule schedule = plan::make_plan({.machine = instance.machine, .problem = instance.problem})->schedule();
  schedule.bound = Time{0};
  schedule.problem.commutative = instance.problem.commutative;  // what folds in order folds in any order
  if (schedule.problem != instance.problem || !verify(schedule).legal()) return std::nullopt;
  if (instance.single_sending && repeats(schedule)) return std::nullopt;
  const auto two = [](const Send& send) { return send.second.len > 0; };
  if (!instance.two_values && std::any_of(schedule.sends.begin(), schedule.sends.end(), two)) return std::nullopt;
  return schedule;
}

Search::Search(const Instance& instance, const Options& options, std::string_view engine)
    : instance_(instance), options_(options), engine_(engine) {
  const plan::Bound bound = lower_bound(instance);
  answer_.bound = bound.time;
  answer_.bound_source = bound.source;
  if (options.warm_start) {
    if (std::optional<Schedule> plan = best_plan(instance)) found(std::move(*plan));
  }
}

std::optional<Time> Search::ceiling() const {
  std::optional<Time> ceiling = options_.at_most;
  if (has_best()) ceiling = std::min(objective(best()) - Time{1}, ceiling.value_or(kNoCeiling));
  return ceiling;
}

bool Search::decided() const {
  const std::optional<Time> limit = ceiling();
  return limit && *limit < bound();
}

void Search::found(Schedule schedule) {
  const Report report = verify(schedule);
  CHASQUI_CHECK(report.legal(), "{}: {} gave an illegal schedule: {}", to_string(instance_), engine_,
                chasqui::to_string(report));
  if (has_best() && objective(schedule) >= objective(best())) return;
  answer_.best = std::move(schedule);
}

void Search::refuted(Time T, Evidence evidence, std::string_view how) {
  if (T < bound()) return;
  answer_.bound = T + Time{1};
  answer_.bound_source = fmt::format("{} at {}", how, T.ticks);
  answer_.evidence = evidence;
}

void Search::asking(Time T) {
  asking_ = T;
  report();
}

void Search::report() {
  if (!options_.progress) return;
  reported_ = seconds();
  Progress progress{.seconds = reported_, .bound = bound(), .best = {}, .asking = asking_, .engine = engine_};
  if (has_best()) progress.best = objective(best());
  options_.progress(progress);
}

double Search::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool Search::out_of_time() const {
  return (options_.time_limit > 0 && seconds() >= options_.time_limit) ||
         (options_.interrupted && options_.interrupted());
}

Stop Search::stop() {
  return [this] {
    constexpr double kBetweenReports = 0.2;
    if (asking_ && seconds() - reported_ > kBetweenReports) report();
    return out_of_time();
  };
}

Answer Search::answer() const {
  Answer answer = answer_;
  answer.seconds = seconds();
  const bool too_late = options_.at_most && (!has_best() || objective(best()) > *options_.at_most);
  if (has_best() && objective(best()) == bound()) {
    answer.status = too_late ? Status::infeasible : Status::optimal;
  } else if (options_.at_most && bound() > *options_.at_most) {
    answer.status = Status::infeasible;
  } else {
    answer.status = Status::unknown;
    answer.stopped = options_.interrupted && options_.interrupted() ? "interrupted" : "time limit";
  }
  if (answer.best) answer.best->bound = answer.bound;
  return answer;
}

}  // namespace chasqui::solve
