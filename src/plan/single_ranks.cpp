// SPDX-License-Identifier: MIT
#include "plan/single_ranks.hpp"

#include <utility>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/base/error.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/relabelled_plan.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::plan {
namespace {

constexpr std::int64_t kMostTriedMessages = 20'000;  ///< some tenths of a second
constexpr std::int64_t kMostTriedScanRanks = 1024;

/// Of two bounds the better one, of equal ones that of the plain machine, in its words.
PlanPtr with_bound_of(PlanPtr plan, const Plan& other) {
  Claim claim = plan->claim();
  if (claim.bound > other.claim().bound) return plan;
  claim.bound = other.claim().bound;
  claim.bound_source = other.claim().bound_source;
  return on_single_ranks(std::move(plan), {}, std::move(claim));
}

/// On the plain machine, and named without words for nodes.
PlanPtr on_plain_machine(PlanPtr plan, std::string construction) {
  Claim claim = plan->claim();
  claim.construction = std::move(construction);
  return on_single_ranks(std::move(plan), {}, std::move(claim));
}

PlanPtr items_listed(const Cluster& cluster, const Problem& problem) {
  if (problem.items == 1 || saturating_multiply(cluster.base.P - 1, problem.items) > kMostTriedMessages) return nullptr;
  return on_plain_machine(items_on_cluster(cluster, problem.root, problem.items, Lanes::all),
                          "a tree for each item, one message after another");
}

PlanPtr listed(const LogP& machine, const Problem& problem) {
  const Cluster cluster = Cluster::uniform(machine.P, 1, machine, Time{0}, Time{0}, Time{0});
  switch (problem.kind) {
    case Kind::broadcast: return items_listed(cluster, problem);
    case Kind::reduce: {
      PlanPtr forward = problem.commutative ? items_listed(cluster, problem) : nullptr;
      if (!forward) return nullptr;
      Claim claim = forward->claim();
      claim.construction += ", reversed";
      return std::make_shared<ReversedPlan>(machine, problem, std::move(claim), std::move(forward));
    }
    case Kind::scan:
      if (machine.P > kMostTriedScanRanks) return nullptr;
      return on_plain_machine(scan_on_cluster(cluster, problem, Lanes::all), "windows, one message after another");
    default: return nullptr;
  }
}

}  // namespace

PlanPtr on_single_ranks(PlanPtr plan, const Nodes& nodes, Claim claim) {
  const Problem problem = plan->problem();
  return std::make_shared<RelabelledPlan>(std::move(plan), nodes, problem, std::move(claim));
}

PlanPtr or_listed(PlanPtr best) {
  if (best->claim().optimal()) return best;
  PlanPtr list;
  try {
    list = listed(best->machine(), best->problem());
  } catch (const Error&) {  // times without a common unit
  }
  return list && list->claim().finish < best->claim().finish ? with_bound_of(list, *best) : best;
}

}  // namespace chasqui::plan
