// SPDX-License-Identifier: MIT
#include "plan/items/repeated_plan.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/clusters/cluster_plans.hpp"
#include "plan/clusters/timetable.hpp"

namespace chasqui::plan {
namespace {

/// The root needs it for its sends, and it is enough for all others (items.md, Theorem 17). REQUIRES P >= 2.
Time distance(const LogP& machine) {
  const UniversalTree tree(broadcast_shape(machine), machine.P);
  return tree.root().children * machine.gap();
}

class RepeatedPlan final : public Plan {
 public:
  RepeatedPlan(PlanPtr once, const Problem& problem, Claim claim, Time distance)
      : Plan(Cluster{once->machine(), once->nodes()}, problem, std::move(claim)), once_(std::move(once)),
        distance_(distance) {}

  LocalForm local(Rank rank) const override {
    const LocalForm one = once_->local(rank);
    const std::size_t events = one.sends.size() + one.receives.size() + one.publications.size() + one.readings.size();
    require_own_list(rank, saturating_multiply(static_cast<std::int64_t>(events), problem_.items),
                     "ask for fewer items");
    LocalForm all{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    repeat(one.sends, all.sends);
    repeat(one.receives, all.receives);
    repeat(one.publications, all.publications);
    repeat(one.readings, all.readings);
    return in_order(std::move(all));
  }

  Schedule schedule() const override {
    if (!nodes_.empty()) {
      const std::int64_t each = saturating_add(machine_.P, nodes_.count());
      require_listable({machine_, nodes_}, problem_, saturating_multiply(each, problem_.items));
    }
    const Schedule one = once_->schedule();
    Schedule all = empty_schedule();
    repeat(one.sends, all.sends);
    repeat(one.publications, all.publications);
    repeat(one.readings, all.readings);
    normalise(all);
    return all;
  }

 private:
  template <typename Event>
  void repeat(const std::vector<Event>& one, std::vector<Event>& all) const {
    all.reserve(one.size() * static_cast<std::size_t>(problem_.items));
    for (std::int64_t item = 0; item < problem_.items; ++item) {
      for (Event event : one) {
        event.begin += item * distance_;
        event.part = item_part(item);
        event.second = {};
        all.push_back(event);
      }
    }
  }

  PlanPtr once_;
  Time distance_;
};

}  // namespace

PlanPtr repeated(PlanPtr once, const Problem& problem, Claim claim, Time distance) {
  return std::make_shared<RepeatedPlan>(std::move(once), problem, std::move(claim), distance);
}

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
