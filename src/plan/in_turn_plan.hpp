// SPDX-License-Identifier: MIT
// Two plans one after the other, on a machine with or without nodes: a reduction and a broadcast are an all-reduce.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

/// When the second of two plans can begin: what the first did last ended at its finish, and where the gap is longer than a
/// whole message it began the gap before. The gap of a node is no longer than that of a rank.
inline Time turn_after(const LogP& machine, Time finish) {
  return finish + std::max(Time{0}, machine.gap() - machine.lambda());
}

/// INVARIANT: what both carry means the same, or `second_carries` is what the messages of the second carry instead, or what they carry are items that
/// are numbered from `second_from` on.
class InTurnPlan final : public Plan {
 public:
  InTurnPlan(const Problem& problem, Claim claim, PlanPtr first, PlanPtr second, Part second_carries = {},
             std::int64_t second_from = 0)
      : Plan(Cluster{first->machine(), first->nodes()}, problem, std::move(claim)), first_(std::move(first)),
        second_(std::move(second)), second_carries_(second_carries),
        second_from_(static_cast<std::int32_t>(second_from)), turn_(turn_after(machine_, first_->claim().finish)) {
    claim_.finish = turn_ + second_->claim().finish;
  }

  LocalForm local(Rank rank) const override {
    LocalForm form = first_->local(rank);
    const LocalForm then = second_->local(rank);
    append(form.sends, then.sends);
    append(form.receives, then.receives);
    append(form.publications, then.publications);
    append(form.readings, then.readings);
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    Schedule first = first_->schedule();
    const Schedule then = second_->schedule();
    schedule.sends = std::move(first.sends);
    schedule.publications = std::move(first.publications);
    schedule.readings = std::move(first.readings);
    append(schedule.sends, then.sends);
    append(schedule.publications, then.publications);
    append(schedule.readings, then.readings);
    return schedule;
  }

 private:
  template <typename Event>
  void append(std::vector<Event>& events, const std::vector<Event>& more) const {
    events.reserve(events.size() + more.size());
    for (Event event : more) {
      event.begin += turn_;
      if (second_carries_.len > 0) event.part = second_carries_;
      event.part.lo += second_from_;
      events.push_back(event);
    }
  }

  PlanPtr first_, second_;
  Part second_carries_;
  std::int32_t second_from_;
  Time turn_;
};

}  // namespace chasqui::plan
