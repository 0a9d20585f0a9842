// SPDX-License-Identifier: MIT
#include "plan/items/repeated_tree.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/repeated_plan.hpp"

namespace chasqui::plan {
namespace {

/// The root needs it for its sends, and it is enough for all others (items.md, Theorem 17). REQUIRES P >= 2.
Time distance(const LogP& machine) {
  const UniversalTree tree(broadcast_shape(machine), machine.P);
  return tree.root().children * machine.gap();
}

}  // namespace

Time repeated_tree_finish(const LogP& machine, std::int64_t k) {
  if (machine.P == 1) return Time{0};
  const Time once = broadcast_time(broadcast_shape(machine), machine.P);
  const std::int64_t more = checked_multiply(k - 1, distance(machine).ticks, "k-item broadcast");
  return Time{checked_add(once.ticks, more, "k-item broadcast")};
}

PlanPtr repeated_tree(const LogP& machine, const Problem& problem, const Bound& bound, bool reversed) {
  PlanPtr once = reversed ? reduce(machine, problem.root, problem.commutative) : broadcast(machine, problem.root);
  Claim claim{repeated_tree_finish(machine, problem.items), bound.time, bound.source,
              reversed ? "universal tree reversed, once per item" : "universal tree, once per item"};
  return repeated(std::move(once), problem, std::move(claim), distance(machine));
}

}  // namespace chasqui::plan
