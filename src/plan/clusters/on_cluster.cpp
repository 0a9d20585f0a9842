// SPDX-License-Identifier: MIT
// The plan of a problem on a cluster: by the planner of its kind, or, where every node has one rank, by that of the plain machine.
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "plan/clusters/cluster_plans.hpp"

namespace chasqui::plan {
namespace {

PlanPtr with_boards(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  switch (problem.kind) {
    case Kind::broadcast:
      if (problem.items > 1) return items_on_cluster(cluster, problem.root, problem.items, lanes);
      return broadcast_on_cluster(cluster, problem.root, lanes);
    case Kind::reduce:
      if (problem.items > 1) break;
      return reduce_on_cluster(cluster, problem.root, problem.commutative, lanes);
    case Kind::allreduce:
    case Kind::barrier:
      if (problem.items > 1) break;
      return allreduce_on_cluster(cluster, problem, lanes);
    case Kind::scatter: return scatter_on_cluster(cluster, problem.root, lanes);
    case Kind::gather: return gather_on_cluster(cluster, problem.root, lanes);
    case Kind::allgather:
    case Kind::reduce_scatter:
    case Kind::alltoall: return exchange_on_cluster(cluster, problem, lanes);
    case Kind::scan: return scan_on_cluster(cluster, problem, lanes);
    default: throw Error("{} is not planned on clusters: leave -N out, or choose another", to_string(problem.kind));
  }
  throw Error("{} of {} items is not planned on clusters: ask for one item", to_string(problem.kind), problem.items);
}

/// Nodes of one rank whose gap is no longer than the rank's own are processors of a plain machine.
bool plain(const Cluster& cluster) { return cluster.nodes.largest() == 1 && cluster.nodes.gamma <= cluster.base.gap(); }

/// A plan seen as one on this cluster, with the better of two bounds.
class SingleRanks final : public Plan {
 public:
  SingleRanks(const Cluster& cluster, Claim claim, PlanPtr plan)
      : Plan(cluster, plan->problem(), std::move(claim)), plan_(std::move(plan)) {}

  LocalForm local(Rank rank) const override { return plan_->local(rank); }
  Schedule schedule() const override {
    Schedule schedule = plan_->schedule();
    schedule.nodes = nodes_;
    schedule.bound = claim_.bound;
    return schedule;
  }

 private:
  PlanPtr plan_;
};

/// The planner of clusters may be faster where that of the plain machine does not meet its bound; it may also have too much to list.
PlanPtr on_single_ranks(const Cluster& cluster, const Problem& problem) {
  PlanPtr best = make_plan({.machine = cluster.base, .problem = problem});
  Claim claim = best->claim();
  if (!claim.optimal()) {
    try {
      PlanPtr other = with_boards(cluster, problem, Lanes::all);
      if (other->claim().bound > claim.bound) {
        claim.bound = other->claim().bound;
        claim.bound_source = other->claim().bound_source;
      }
      if (other->claim().finish < claim.finish) {
        claim.finish = other->claim().finish;
        claim.construction = other->claim().construction;
        best = std::move(other);
      }
    } catch (const Error&) {  // too much to list, or times without a common unit: there is a plan without it
    }
  }
  return std::make_shared<SingleRanks>(cluster, std::move(claim), std::move(best));
}

}  // namespace

PlanPtr on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  validate(cluster);
  validate(problem, cluster.base);
  const bool planned = problem.kind <= Kind::barrier && (problem.items == 1 || problem.kind == Kind::broadcast);
  if (planned && lanes == Lanes::all && plain(cluster)) return on_single_ranks(cluster, problem);
  return with_boards(cluster, problem, lanes);
}

}  // namespace chasqui::plan
