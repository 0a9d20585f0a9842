// SPDX-License-Identifier: MIT
#include "solve/clusters/climb.hpp"

#include <algorithm>
#include <chrono>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/listed_plan.hpp"

namespace chasqui::solve {
namespace {

/// Items times pairs of ranks: what the formula of one tick grows with.
constexpr std::int64_t kMostMoves = 20'000;

/// All items of the problem; for one value that is folded, 1.
std::int64_t all_items(const Cluster& cluster, const Problem& problem) {
  const std::int64_t P = cluster.base.P;
  switch (problem.kind) {
    case Kind::alltoall: return problem.items * P * P;
    case Kind::scatter:
    case Kind::gather:
    case Kind::allgather:
    case Kind::reduce_scatter: return problem.items * P;
    case Kind::allreduce:
    case Kind::scan: return P * P;  // intervals of contributions
    default: return problem.items;
  }
}

void require_small(const Cluster& cluster, const Problem& problem, Time finish) {
  const std::int64_t P = cluster.base.P;
  if (P > kMostRanks) throw Error("{} ranks are too many to try everything: at most {}", P, kMostRanks);
  if (finish.ticks > kMostClusterTicks)
    throw Error("{} ticks are too many to try everything (at most {}): use a coarser unit of time", finish.ticks,
                kMostClusterTicks);
  if (problem.items > kMostMoves || all_items(cluster, problem) * P * P > kMostMoves)
    throw Error("{} items on {} ranks are too many to try everything: at most {} items times ranks squared",
                all_items(cluster, problem), P, kMostMoves);
  if (!problem.commutative) throw Error("no exact search on clusters in rank order: leave out --non-commutative");
}

/// All-reduce and scan. The formula of who hears of whom is much smaller than that of the folds, and mostly it says already that the time is
/// too short; once it does not, no longer time needs it.
class HearingThenFolding final : public ClusterSearch {
 public:
  HearingThenFolding(const Cluster& cluster, const Problem& problem)
      : hearing_(search_hearing(cluster, problem)), folding_(search_folds(cluster, problem)) {}

  Verdict within(Time T, const Stop& stop) override {
    if (T < heard_) {
      const Verdict verdict = hearing_->within(T, stop);
      if (verdict != Verdict::satisfiable) return verdict;
      heard_ = T;
    }
    return folding_->within(T, stop);
  }
  std::optional<Schedule> found() const override { return folding_->found(); }
  std::string_view how() const override { return folding_->how(); }

 private:
  ClusterSearchPtr hearing_, folding_;
  Time heard_{kMaxTime};  ///< in which everybody can hear what it must
};

ClusterSearchPtr search_for(const Cluster& cluster, const Problem& problem) {
  switch (problem.kind) {
    case Kind::broadcast:
      return problem.items == 1 ? search_one_item(cluster, problem) : search_items(cluster, problem);
    case Kind::reduce:
      if (problem.items == 1) return search_one_item(cluster, problem);
      break;
    case Kind::scatter:
    case Kind::gather:
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter: return search_items(cluster, problem);
    case Kind::barrier: return search_hearing(cluster, problem);
    case Kind::allreduce:
    case Kind::scan:
      if (problem.items == 1) return std::make_unique<HearingThenFolding>(cluster, problem);
      break;
    default: break;
  }
  throw Error(
      "no exact search on clusters for {}{}: ask for a broadcast, scatter, gather, allgather, alltoall, reduce-scatter, barrier, "
      "or a reduce, allreduce or scan of one item",
      to_string(problem.kind), problem.items > 1 ? fmt::format(" of {} items", problem.items) : "");
}

/// Verified; an illegal one is a bug of the search and aborts.
std::optional<Schedule> checked(const Cluster& cluster, const ClusterSearch& search) {
  std::optional<Schedule> found = search.found();
  if (found) {
    const Report report = verify(*found);
    CHASQUI_CHECK(report.legal(), "{} on {}: an illegal schedule was found: {}", to_string(found->problem.kind),
                  to_string(cluster), chasqui::to_string(report));
  }
  return found;
}

}  // namespace

FormulaSearch::FormulaSearch(std::string_view what) {
  if (!sat_available())
    throw Error("{} on a cluster needs the SAT solver: build with CaDiCaL (apt install libcadical-dev)", what);
}

Verdict FormulaSearch::within(Time T, const Stop& stop) {
  T_ = T.ticks;
  if (T_ < 0) return Verdict::unsatisfiable;
  const Cnf formula = this->formula();
  SatSolver solver(formula);
  const Verdict verdict = solver.decide({}, 0, stop);
  if (verdict == Verdict::satisfiable) found_ = read_off(solver);
  return verdict;
}

Answer solve_on_cluster(const Cluster& cluster, const Problem& problem, const Options& options) {
  const plan::PlanPtr plan = plan::on_cluster(cluster, problem);
  const plan::Claim& claim = plan->claim();
  const ClusterSearchPtr search = search_for(cluster, problem);
  require_small(cluster, problem, claim.finish);
  const auto started = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  Answer answer;
  std::optional<Time> asking;
  const Stop stop = [&] {
    if (options.progress)
      options.progress({seconds(), answer.bound, answer.best ? std::optional(answer.best->finish) : std::nullopt,
                        asking, search->how()});
    return (options.interrupted && options.interrupted()) || (options.time_limit > 0 && seconds() > options.time_limit);
  };
  if (options.warm_start) {
    answer.bound = claim.bound;
    answer.bound_source = claim.bound_source;
  }
  Verdict verdict = Verdict::unsatisfiable;
  bool written_down = true;
  if (options.at_most) {
    asking = *options.at_most;
    verdict = search->within(std::min(*options.at_most, Time{kMostClusterTicks}), stop);
    if (verdict == Verdict::satisfiable) answer.best = checked(cluster, *search);
    if (verdict == Verdict::unsatisfiable) {
      answer.status = Status::infeasible;
      answer.bound = *options.at_most + Time{1};
    }
  } else {
    if (options.warm_start) answer.best = plan->schedule();
    const Time last = options.warm_start ? claim.finish - Time{1} : Time{kMostClusterTicks};
    for (Time T = answer.bound; T <= last; T += Time{1}) {
      asking = T;
      verdict = search->within(T, stop);
      if (verdict == Verdict::satisfiable) {
        std::optional<Schedule> found = checked(cluster, *search);
        written_down = found.has_value();
        if (written_down) answer.best = std::move(found);
      }
      if (verdict != Verdict::unsatisfiable) break;
      answer.bound = T + Time{1};
      answer.bound_source = fmt::format("{} at {}", search->how(), T.ticks);
      answer.evidence = Evidence::search;
    }
    if (verdict != Verdict::unknown && written_down) answer.status = Status::optimal;
  }
  if (!written_down) answer.stopped = "no intervals of ranks";
  if (verdict == Verdict::unknown)
    answer.stopped = options.interrupted && options.interrupted() ? "interrupted" : "time limit";
  if (answer.best) answer.best->bound = answer.bound;
  answer.seconds = seconds();
  return answer;
}

plan::PlanPtr with_answer(const plan::PlanPtr& plan, const Answer& answer) {
  const plan::Claim& claim = plan->claim();
  const bool faster = answer.best && answer.best->finish < claim.finish;
  const bool tighter = answer.bound > claim.bound;
  if (!faster && !tighter) return plan;
  Schedule schedule = faster ? *answer.best : plan->schedule();
  schedule.bound = std::max(answer.bound, claim.bound);
  return std::make_shared<plan::ListedClusterPlan>(std::move(schedule),
                                                   tighter ? answer.bound_source : claim.bound_source,
                                                   faster ? "exact search" : claim.construction);
}

}  // namespace chasqui::solve
