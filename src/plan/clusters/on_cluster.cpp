// SPDX-License-Identifier: MIT
// The plan of a problem on a cluster: by the planner of its kind, or, where every node has one rank, by that of the plain machine.
#include <utility>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/single_ranks.hpp"

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

}  // namespace

PlanPtr on_cluster(const Cluster& cluster, const Problem& problem, Lanes lanes) {
  validate(cluster);
  validate(problem, cluster.base);
  const bool planned = problem.kind <= Kind::barrier && (problem.items == 1 || problem.kind == Kind::broadcast);
  if (planned && lanes == Lanes::all && plain(cluster)) {
    PlanPtr plan = make_plan({.machine = cluster.base, .problem = problem});
    Claim claim = plan->claim();
    return on_single_ranks(std::move(plan), cluster.nodes, std::move(claim));
  }
  PlanPtr plan = with_boards(cluster, problem, lanes);
  return lanes == Lanes::all ? no_later_than_harder(cluster, std::move(plan)) : plan;
}

}  // namespace chasqui::plan
