// SPDX-License-Identifier: MIT
#include "plan/repeated_plan.hpp"

#include "chasqui/base/arithmetic.hpp"
#include "plan/listing.hpp"

namespace chasqui::plan {
namespace {

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

}  // namespace chasqui::plan
