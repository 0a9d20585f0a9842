// SPDX-License-Identifier: MIT
// k-item reduction as time reversal: a message of the broadcast sent at t is sent at T - lambda - t the other way
// (items.md, Theorem 15).
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce.hpp"
#include "plan/items/repeated_plan.hpp"

namespace chasqui::plan {
namespace {

constexpr const char* kReversed = "a reduction run backwards is a broadcast; ";

class ReversedPlan final : public Plan {
 public:
  ReversedPlan(const LogP& machine, const Problem& problem, Claim claim, PlanPtr forward)
      : Plan(machine, problem, std::move(claim)), forward_(std::move(forward)) {}

  LocalForm local(Rank rank) const override {
    const LocalForm forward = forward_->local(rank);
    LocalForm back{.rank = rank, .sends = {}, .receives = {}, .adds = {}};
    back.sends = reversed(forward.receives);
    back.receives = reversed(forward.sends);
    return back;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends = reversed(forward_->schedule().sends);
    normalise(schedule);
    return schedule;
  }

 private:
  std::vector<Send> reversed(const std::vector<Send>& forward) const {
    std::vector<Send> back;
    back.reserve(forward.size());
    for (auto send = forward.rbegin(); send != forward.rend(); ++send) {
      back.push_back({claim_.finish - machine_.lambda() - send->begin, send->to, send->from, send->part, {}});
    }
    return back;
  }

  PlanPtr forward_;
};

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
