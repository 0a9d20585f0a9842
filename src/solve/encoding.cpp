// SPDX-License-Identifier: MIT
#include "chasqui/solve/encoding.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "solve/encode.hpp"

namespace chasqui::solve {

Encoding::Encoding(const Instance& instance, Time horizon) : instance_(instance), horizon_(horizon) {
  for (std::int64_t t = 0; t <= last_step(); ++t) {
    allowed_.push_back(cnf_.fresh());
    if (t > 0) cnf_.clause({-allowed_[static_cast<std::size_t>(t)], allowed_[static_cast<std::size_t>(t - 1)]});
  }
}

std::vector<Literal> Encoding::finish_by(Time T) const {
  CHASQUI_CHECK(T <= horizon_, "T={} horizon={}", T.ticks, horizon_.ticks);
  const std::int64_t first_forbidden = std::max<std::int64_t>(0, (T - instance_.machine.lambda()).ticks + 1);
  if (first_forbidden >= static_cast<std::int64_t>(allowed_.size())) return {};
  return {-allowed_[static_cast<std::size_t>(first_forbidden)]};
}

double estimated_variables(const Instance& instance, Time horizon) {
  const auto P = static_cast<double>(instance.machine.P);
  const double steps = std::max<double>(0, static_cast<double>((horizon - instance.machine.lambda()).ticks) + 1);
  return combines(instance.problem.kind) ? steps * P * P * P * (P / 2 + 3)
                                         : steps * P * static_cast<double>(item_count(instance)) * 6;
}

void refuse_giants(const Instance& instance, Time horizon) {
  constexpr double kMostVariables = 2e7;
  const double variables = estimated_variables(instance, horizon);
  if (variables <= kMostVariables) return;
  throw Error(
      "{} by {} is too large for exact search: about {:.0e} variables, at most {:.0e} (use `plan`, or a coarser unit of time)",
      to_string(instance), horizon.ticks, variables, kMostVariables);
}

Schedule match_items(const Instance& instance, std::int64_t steps, const ItemStep& sends, const ItemStep& receives) {
  Schedule schedule;
  schedule.machine = instance.machine;
  schedule.problem = instance.problem;
  schedule.period = instance.period;
  Time last{0};
  const auto P = static_cast<std::int32_t>(instance.machine.P);
  for (std::int32_t i = 0; i < item_count(instance); ++i) {
    for (std::int64_t t = 0; t < steps; ++t) {
      std::int32_t sender = -1;
      for (std::int32_t q = 0; q < P; ++q) {
        if (!receives(i, q, t)) continue;
        do ++sender;
        while (sender < P && !sends(i, sender, t));
        CHASQUI_CHECK(sender < P, "item={} step={}: a receiver without a sender", i, t);
        schedule.sends.push_back(send_item(birth(instance, i) + Time{t}, Rank{sender}, Rank{q}, i));
        last = std::max(last, Time{t} + instance.machine.lambda());
      }
    }
  }
  (instance.problem.kind == Kind::stream ? schedule.delay : schedule.finish) = last;
  normalise(schedule);
  return schedule;
}

std::unique_ptr<Encoding> encode(const Instance& instance, Time horizon) {
  validate(instance);
  refuse_giants(instance, horizon);
  return combines(instance.problem.kind) ? encode_folds(instance, horizon) : encode_items(instance, horizon);
}

Schedule canonical(const Instance& instance, Schedule schedule) {
  schedule = combines(instance.problem.kind) ? canonical_folds(instance, std::move(schedule))
                                             : canonical_items(instance, std::move(schedule));
  normalise(schedule);
  return schedule;
}

}  // namespace chasqui::solve
