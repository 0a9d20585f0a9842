// SPDX-License-Identifier: MIT
#include "plan/items/repeated_plan.hpp"

#include <algorithm>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/universal_tree.hpp"

namespace chasqui::plan {
namespace {

/// The root needs it for its sends, and it is enough for all others (items.md, Theorem 17). REQUIRES P >= 2.
Time distance(const LogP& machine) {
  const UniversalTree tree(broadcast_shape(machine), machine.P);
  return tree.root().children * machine.gap();
}

class RepeatedPlan final : public Plan {
 public:
  RepeatedPlan(const LogP& machine, const Problem& problem, Claim claim, PlanPtr once, Time distance)
      : Plan(machine, problem, std::move(claim)), once_(std::move(once)), distance_(distance) {}

  LocalForm local(Rank rank) const override {
    const LocalForm one = once_->local(rank);
    LocalForm all{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    repeat(one.sends, all.sends);
    repeat(one.receives, all.receives);
    return all;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    repeat(once_->schedule().sends, schedule.sends);
    normalise(schedule);
    return schedule;
  }

 private:
  void repeat(const std::vector<Send>& one, std::vector<Send>& all) const {
    all.reserve(one.size() * static_cast<std::size_t>(problem_.items));
    for (std::int32_t item = 0; item < problem_.items; ++item) {
      for (const Send& send : one) all.push_back(send_item(send.begin + item * distance_, send.from, send.to, item));
    }
    std::sort(all.begin(), all.end());
  }

  PlanPtr once_;
  Time distance_;
};

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
  return std::make_shared<RepeatedPlan>(machine, problem, std::move(claim), std::move(once), distance(machine));
}

}  // namespace chasqui::plan
