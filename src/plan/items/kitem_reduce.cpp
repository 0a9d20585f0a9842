// SPDX-License-Identifier: MIT
// k-item reduction as time reversal of the broadcast (items.md, Theorem 15).
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce.hpp"
#include "plan/items/repeated_plan.hpp"
#include "plan/reversed_plan.hpp"

namespace chasqui::plan {
namespace {

constexpr const char* kReversed = "a reduction run backwards is a broadcast; ";

}  // namespace

PlanPtr kitem_reduce(const LogP& machine, std::int64_t k, Rank root, bool commutative, const KitemOptions& options) {
  if (k == 1) return reduce(machine, root, commutative);
  const Time bound = kitem_bound(machine, k);
  const Problem problem{.kind = Kind::reduce, .root = root, .items = k, .commutative = commutative};
  validate(problem, machine);
  // Subtrees of kernels are no intervals of ranks; those of the universal tree are.
  if (!commutative && machine.P > 2) {
    return repeated_tree(machine, problem, bound, std::string(kReversed) + "counting", true);
  }
  PlanPtr forward = kitem(machine, k, root, options);
  Claim claim = forward->claim();
  claim.bound_source = kReversed + claim.bound_source;
  claim.construction += ", reversed";
  return std::make_shared<ReversedPlan>(machine, problem, std::move(claim), std::move(forward));
}

}  // namespace chasqui::plan
