// SPDX-License-Identifier: MIT
#include "solve/ports.hpp"

#include <algorithm>
#include <cstdlib>

namespace chasqui::solve {

void Ports::add(Slots& slots, Literal message, std::int64_t begin) const {
  const auto tick = static_cast<std::size_t>(period_ > 0 ? begin % period_ : begin);
  if (slots.size() <= tick) slots.resize(tick + 1);
  slots[tick].push_back(message);
}

bool closer(std::int64_t a, std::int64_t b, std::int64_t distance, std::int64_t period) {
  std::int64_t apart = std::abs(a - b);
  if (period > 0) apart = std::min(apart % period, period - apart % period);
  return apart < distance;
}

/// Literal "a message begins now" by tick.
std::vector<Literal> Ports::busy_ticks(Cnf& cnf, const Slots& slots) {
  std::vector<Literal> busy(slots.size(), 0);
  for (std::size_t tick = 0; tick < slots.size(); ++tick) {
    if (slots[tick].empty()) continue;
    busy[tick] = cnf.fresh();
    std::vector<Literal> some{-busy[tick]};
    for (const Literal message : slots[tick]) {
      cnf.clause({-message, busy[tick]});
      some.push_back(message);
    }
    cnf.clause(some);
  }
  return busy;
}

/// Two ticks with a message are at least max(g, o) apart.
void Ports::keep_apart(Cnf& cnf, const std::vector<Literal>& busy) const {
  const std::int64_t G = machine_.gap().ticks;
  for (std::size_t a = 0; a < busy.size(); ++a) {
    for (std::size_t b = a + 1; b < busy.size(); ++b) {
      if (busy[a] == 0 || busy[b] == 0) continue;
      if (closer(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), G, period_))
        cnf.clause({-busy[a], -busy[b]});
    }
  }
}

void Ports::rules(Cnf& cnf) {
  for (const Slots* slots : {&sends_, &receptions_}) {
    for (const std::vector<Literal>& messages : *slots) at_most_one(cnf, messages);
  }
  if (machine_.gap() == Time{1} && machine_.o == Time{0}) return;  // one message a tick is all there is to it
  const std::vector<Literal>& sending = this->sending(cnf);
  const std::vector<Literal>& receiving = this->receiving(cnf);
  keep_apart(cnf, sending);
  keep_apart(cnf, receiving);
  const std::int64_t flight = (machine_.o + machine_.L).ticks;
  for (std::size_t a = 0; a < sending.size() && machine_.o > Time{0}; ++a) {
    for (std::size_t b = 0; b < receiving.size(); ++b) {
      if (sending[a] == 0 || receiving[b] == 0) continue;
      if (closer(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b) + flight, machine_.o.ticks, period_)) {
        cnf.clause({-sending[a], -receiving[b]});
      }
    }
  }
}

const std::vector<Literal>& Ports::sending(Cnf& cnf) {
  if (sending_.empty()) sending_ = busy_ticks(cnf, sends_);
  return sending_;
}

const std::vector<Literal>& Ports::receiving(Cnf& cnf) {
  if (receiving_.empty()) receiving_ = busy_ticks(cnf, receptions_);
  return receiving_;
}

void Ports::at_least(Cnf& cnf, const std::vector<Literal>& busy, std::int64_t n) const {
  const auto ticks = static_cast<std::int64_t>(busy.size());
  const std::int64_t G = machine_.gap().ticks;
  std::vector<Literal> before;  // by tick: at least j-1 messages have begun
  for (std::int64_t j = 1; j <= n; ++j) {
    std::vector<Literal> now;
    for (std::int64_t t = 0; t < ticks; ++t) {
      const Literal reached = cnf.fresh(), acts = busy[static_cast<std::size_t>(t)];
      now.push_back(reached);
      std::vector<Literal> why{-reached};
      if (acts != 0) why.push_back(acts);
      if (t > 0) {
        why.push_back(now[static_cast<std::size_t>(t - 1)]);
        cnf.clause({-now[static_cast<std::size_t>(t - 1)], reached});
      }
      cnf.clause(why);
      if (j == 1) {
        if (acts != 0) cnf.clause({-acts, reached});
      } else if (t < G) {
        cnf.clause({-reached});
      } else {
        const Literal one_less = before[static_cast<std::size_t>(t - G)];
        cnf.clause({-reached, one_less});
        if (acts != 0) cnf.clause({-acts, -one_less, reached});
      }
    }
    before = std::move(now);
  }
  if (!before.empty()) cnf.clause({before.back()});
}

}  // namespace chasqui::solve
