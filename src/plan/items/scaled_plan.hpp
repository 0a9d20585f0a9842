// SPDX-License-Identifier: MIT
// A plan of the postal machine played on a LogP machine, every step so many ticks long (postal_step.hpp says which).
#pragma once

#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

class ScaledPlan final : public Plan {
 public:
  ScaledPlan(const LogP& machine, Claim claim, PlanPtr postal, Time step)
      : Plan(machine, postal->problem(), std::move(claim)), postal_(std::move(postal)), step_(step) {}

  LocalForm local(Rank rank) const override {
    LocalForm form = postal_->local(rank);
    for (Send& send : form.sends) scale(send);
    for (Send& send : form.receives) scale(send);
    return form;
  }

  Schedule schedule() const override {
    Schedule schedule = empty_schedule();
    schedule.sends = postal_->schedule().sends;
    for (Send& send : schedule.sends) scale(send);
    return schedule;
  }

 private:
  void scale(Send& send) const { send.begin = send.begin.ticks * step_; }

  PlanPtr postal_;
  Time step_;
};

}  // namespace chasqui::plan
