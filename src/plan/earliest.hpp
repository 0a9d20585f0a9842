// SPDX-License-Identifier: MIT
// Of several plans the one that ends first; of those that end together the one that was offered first.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "plan/listed_plan.hpp"

namespace chasqui::plan {

class Earliest {
 public:
  explicit Earliest(PlanPtr first = nullptr) : best_(std::move(first)) {}

  /// A plan, or nothing.
  void offer(PlanPtr plan) {
    if (plan && plan->claim().finish < before()) best_ = std::move(plan);
  }
  /// On a cluster. How a schedule that is taken was made is then asked.
  template <typename Words>
  void offer(std::optional<Schedule> schedule, const std::string& bound_source, Words how) {
    if (schedule && schedule->finish < before())
      best_ = std::make_shared<ListedClusterPlan>(std::move(*schedule), bound_source, how());
  }

  /// What is offered must end before.
  Time before() const { return best_ ? best_->claim().finish : Time{kMaxTime}; }
  bool optimal() const { return best_ && best_->claim().optimal(); }
  /// Nothing if nothing was offered.
  const PlanPtr& plan() const { return best_; }

 private:
  PlanPtr best_;
};

/// The schedule that ends first, of those that play(style, before) finds for these styles, or nothing where none ends before `before`. None takes
/// less than `bound`.
template <typename Styles, typename Play>
std::optional<Schedule> earliest_of(const Styles& styles, Time bound, Time before, Play play) {
  std::optional<Schedule> best;
  for (const auto& style : styles) {
    if (before <= bound) break;
    std::optional<Schedule> found = play(style, before);
    if (!found || found->finish >= before) continue;
    before = found->finish;
    best = std::move(found);
  }
  return best;
}

}  // namespace chasqui::plan
