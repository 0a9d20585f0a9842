// SPDX-License-Identifier: MIT
#include "chasqui/plan/plan.hpp"

namespace chasqui::plan {

Schedule Plan::empty_schedule() const {
  Schedule schedule;
  schedule.machine = machine_;
  schedule.problem = problem_;
  schedule.finish = claim_.finish;
  schedule.bound = claim_.bound;
  return schedule;
}

}  // namespace chasqui::plan
