// SPDX-License-Identifier: MIT
#include "chasqui/solve/integer_program.hpp"

#include <algorithm>

#include "solve/encode.hpp"
#include "solve/ports.hpp"

namespace chasqui::solve {
namespace {

using Terms = std::vector<Program::Term>;

/// Items: binary columns `receives` and `sends` by item, rank and step, `enabled` by step.
class ItemProgram final : public IntegerProgram {
 public:
  ItemProgram(const Instance& instance, Time bound, Time horizon)
      : instance_(instance), P_(instance.machine.P), items_(item_count(instance)),
        steps_(std::max<std::int64_t>(0, (horizon - instance.machine.lambda()).ticks + 1)),
        lambda_(instance.machine.lambda().ticks) {
    const std::int64_t free_steps = (bound - instance.machine.lambda()).ticks + 1;
    for (std::int64_t t = 0; t < steps_; ++t) {
      enabled_.push_back(program_.add_column(t < free_steps ? 0 : 1));
      if (t > 0) program_.at_least({{enabled_[index(t - 1)], 1}, {enabled_[index(t)], -1}}, 0);
    }
    for (auto* columns : {&receives_, &sends_}) {
      for (std::int64_t n = 0; n < items_ * P_ * steps_; ++n) columns->push_back(program_.add_column());
    }
    receive_once();
    match();
    if (instance.problem.kind == Kind::broadcast && instance.single_sending) send_once();
    for (std::int64_t p = 0; p < P_; ++p) obey_ports(p);
  }

  Schedule decode(const Point& point) const override {
    const auto acts = [&](const std::vector<int>& columns) {
      return [&](std::int64_t item, std::int64_t rank, std::int64_t step) {
        return point[index(columns[index((item * P_ + rank) * steps_ + step)])];
      };
    };
    return match_items(instance_, steps_, acts(sends_), acts(receives_));
  }

 private:
  static std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }
  int receives(std::int64_t i, std::int64_t p, std::int64_t t) const {
    return receives_[index((i * P_ + p) * steps_ + t)];
  }

  int sends(std::int64_t i, std::int64_t p, std::int64_t t) const { return sends_[index((i * P_ + p) * steps_ + t)]; }
  bool owns(std::int64_t p, std::int64_t i) const { return owner(instance_, i).index == p; }

  /// The paper's constraints 4 and 5: each rank receives each item once, and sends only what it received λ ago.
  void receive_once() {
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t p = 0; p < P_; ++p) {
        Terms received;
        for (std::int64_t t = 0; t < steps_; ++t) {
          if (owns(p, i)) {
            program_.fix_to_zero(receives(i, p, t));
            continue;
          }
          program_.at_least({{enabled_[index(t)], 1}, {receives(i, p, t), -1}}, 0);
          received.push_back({receives(i, p, t), 1});
          if (t < lambda_) program_.fix_to_zero(sends(i, p, t));
          if (t + lambda_ < steps_) {
            Terms row = received;
            row.push_back({sends(i, p, t + lambda_), -1});
            program_.at_least(std::move(row), 0);
          }
        }
        if (owns(p, i)) continue;
        const bool wanted = wants(instance_, Rank{static_cast<std::int32_t>(p)}, i);
        wanted ? program_.equal(std::move(received), 1) : program_.at_most(std::move(received), 1);
      }
    }
  }

  /// Constraint 6, for every step: as many receptions as sends.
  void match() {
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        Terms row;
        for (std::int64_t p = 0; p < P_; ++p) {
          row.push_back({sends(i, p, t), 1});
          row.push_back({receives(i, p, t), -1});
        }
        program_.equal(std::move(row), 0);
      }
    }
  }

  void send_once() {
    for (std::int64_t i = 0; i < items_; ++i) {
      Terms row;
      for (std::int64_t t = 0; t < steps_; ++t) row.push_back({sends(i, owner(instance_, i).index, t), 1});
      program_.at_most(std::move(row), 1);
    }
  }

  /// Constraints 1 and 3, for any gap: one send and one reception in any window of G ticks; with overhead, a send and a
  /// reception that would overlap exclude each other.
  void obey_ports(std::int64_t p) {
    const std::int64_t G = instance_.machine.gap().ticks, o = instance_.machine.o.ticks;
    const std::int64_t flight = (instance_.machine.o + instance_.machine.L).ticks;
    const std::int64_t period = instance_.period.ticks;
    const std::int64_t ticks = period > 0 ? period : steps_;
    std::vector<Terms> sending(index(ticks)), receiving(index(ticks));
    for (std::int64_t i = 0; i < items_; ++i) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        const std::int64_t tick = (birth(instance_, i).ticks + t) % ticks;
        sending[index(tick)].push_back({sends(i, p, t), 1});
        receiving[index(tick)].push_back({receives(i, p, t), 1});
      }
    }
    const auto join = [](Terms a, const Terms& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    for (std::int64_t a = 0; a < ticks; ++a) {
      for (const auto* port : {&sending, &receiving}) {
        Terms window;
        for (std::int64_t b = a; b < a + G && (period > 0 || b < ticks); ++b)
          window = join(window, (*port)[index(b % ticks)]);
        program_.at_most(std::move(window), 1);
      }
      for (std::int64_t b = 0; b < ticks && o > 0; ++b) {
        if (closer(a, b + flight, o, period)) program_.at_most(join(sending[index(a)], receiving[index(b)]), 1);
      }
    }
  }

  Instance instance_;
  std::int64_t P_, items_, steps_, lambda_;
  std::vector<int> enabled_, receives_, sends_;
};

/// Any encoding, its clauses as rows.
class ClauseProgram final : public IntegerProgram {
 public:
  ClauseProgram(const Instance& instance, Time bound, Time horizon) : encoding_(encode(instance, horizon)) {
    program_ = program_from(encoding_->cnf());
    const std::int64_t free_steps = (bound - instance.machine.lambda()).ticks + 1;
    for (std::size_t t = 0; t < encoding_->allowed().size(); ++t) {
      if (static_cast<std::int64_t>(t) >= free_steps) {
        program_.columns[static_cast<std::size_t>(encoding_->allowed()[t] - 1)].objective = 1;
      }
    }
  }
  Schedule decode(const Point& point) const override {
    return encoding_->decode(
        [&](Literal literal) { return point[static_cast<std::size_t>(std::abs(literal) - 1)] == (literal > 0); });
  }

 private:
  std::unique_ptr<Encoding> encoding_;
};

}  // namespace

std::unique_ptr<IntegerProgram> integer_program(const Instance& instance, Time bound, Time horizon) {
  validate(instance);
  refuse_giants(instance, horizon);
  if (combines(instance.problem.kind)) return std::make_unique<ClauseProgram>(instance, bound, horizon);
  return std::make_unique<ItemProgram>(instance, bound, horizon);
}

}  // namespace chasqui::solve
