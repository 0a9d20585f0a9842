// SPDX-License-Identifier: MIT
// Is there a play that is later? One formula for each lateness, from the best known on, until there is none.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/cnf.hpp"
#include "simulate/program.hpp"
#include "solve/adversary/lateness.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

/// Everything an adversary can do with a schedule up to a horizon, as clauses: the times of sends, arrivals and receptions
/// (order encoding: one variable "at or before t" for each t), who is ahead of whom in a pool, and the rules of the
/// engine, which begins at every instant whatever may begin. Solutions are exactly the beginnings of plays.
class PlayFormula {
 public:
  using Clause = std::vector<Literal>;

  /// Latencies low .. L; nothing is said about times from `horizon` on.
  /// Size: O(messages · horizon · most messages to one rank).
  PlayFormula(const simulate::Program& program, Time low, Time horizon)
      : program_(program), machine_(program.schedule().machine), horizon_(horizon.ticks) {
    true_ = fresh();
    require({true_});
    list_messages();
    travel(low.ticks);
    for (std::int32_t r = 0; r < program_.ranks(); ++r) {
      const auto& pool = to_[static_cast<std::size_t>(r)];
      queue(pool);
      machine_.o == Time{0} ? without_overhead(Rank{r}) : with_overhead(Rank{r});
    }
  }

  /// A literal: the reception of the message has begun at or before t.
  int received_by(std::uint32_t message, Time t) const { return by(receptions_[message], t.ticks); }
  void require(Clause clause) {
    if (clause.size() > 1) {
      if (std::find(clause.begin(), clause.end(), true_) != clause.end()) return;
      std::erase(clause, -true_);
    }
    cnf_.clause(clause);
  }

  const Cnf& cnf() const { return cnf_; }

  /// Reads latencies and priorities off a solution; what is left open takes L.
  void read(const std::function<bool(int)>& value, WorstCase& witness) const {
    witness.latencies.assign(place_.size(), machine_.L);
    witness.order.assign(place_.size(), 0);
    for (std::uint32_t m = 0; m < place_.size(); ++m) {
      const std::int64_t arrival = time(arrivals_[m], value);
      if (arrival < horizon_) witness.latencies[m] = Time{arrival - time(sends_[m], value)} - machine_.o;
      for (const std::uint32_t other : to_[static_cast<std::size_t>(program_.send(m).to.index)]) {
        if (other != m && value(ahead(other, m))) ++witness.order[m];
      }
    }
  }

 private:
  /// A time in low .. horizon; the horizon itself stands for "then or later".
  struct Moment {
    std::int64_t low;
    int first;  ///< the variables: at or before low, low + 1, …, horizon - 1
  };

  int fresh() { return cnf_.fresh(); }
  Moment moment(std::int64_t low) {
    const Moment made{low, cnf_.variables() + 1};
    for (std::int64_t t = low; t < horizon_; ++t) fresh();
    for (std::int64_t t = low; t + 1 < horizon_; ++t) require({after(made, t), by(made, t + 1)});
    return made;
  }

  int by(const Moment& moment, std::int64_t t) const {
    if (t >= horizon_) return true_;
    return t < moment.low ? -true_ : moment.first + static_cast<int>(t - moment.low);
  }

  int after(const Moment& moment, std::int64_t t) const { return -by(moment, t); }
  int both(int a, int b) {
    if (a == -true_ || b == -true_) return -true_;
    if (a == true_) return b;
    if (b == true_) return a;
    const int all = fresh();
    require({-all, a});
    require({-all, b});
    require({all, -a, -b});
    return all;
  }

  int any(const Clause& literals) {
    Clause some;
    for (const int literal : literals) {
      if (literal == true_) return true_;
      if (literal != -true_) some.push_back(literal);
    }
    if (some.empty()) return -true_;
    if (some.size() == 1) return some[0];
    const int one = fresh();
    for (const int literal : some) require({one, -literal});
    some.push_back(-one);
    require(some);
    return one;
  }

  int at(const Moment& moment, std::int64_t t) { return within(moment, t - 1, t); }

  /// The moment lies in after_t + 1 .. to, which ends before the horizon.
  int within(const Moment& moment, std::int64_t after_t, std::int64_t to) {
    if (after_t >= to) return -true_;
    return both(by(moment, to), after(moment, after_t));
  }

  int ahead(std::uint32_t a, std::uint32_t b) const {
    const auto receiver = static_cast<std::size_t>(program_.send(a).to.index);
    const std::size_t n = to_[receiver].size();
    const std::size_t i = place_[a];
    const std::size_t j = place_[b];
    return i < j ? ahead_[receiver][i * n + j] : -ahead_[receiver][j * n + i];
  }

  std::int64_t time(const Moment& moment, const std::function<bool(int)>& value) const {
    std::int64_t t = moment.low;
    while (t < horizon_ && !value(by(moment, t))) ++t;
    return t;
  }

  /// It needs what never comes.
  bool never(std::uint32_t message) const {
    const std::int32_t need = program_.needs(message);
    const bool receives_nothing = to_[static_cast<std::size_t>(program_.send(message).from.index)].empty();
    return need == simulate::Program::kImpossible ||
           (program_.single() && need != simulate::Program::kNothing && receives_nothing);
  }

  std::vector<std::uint32_t> needs_of(std::uint32_t message) const {
    const auto& list = to_[static_cast<std::size_t>(program_.send(message).from.index)];
    const std::int32_t need = program_.needs(message);
    if (need == simulate::Program::kNothing || never(message)) return {};
    const auto first = list.begin() + (program_.needs_prefix() ? 0 : need);
    return {first, list.begin() + need + (program_.needs_prefix() ? 0 : 1 + program_.needs_also(message))};
  }

  void list_messages() {
    to_.resize(static_cast<std::size_t>(program_.ranks()));
    place_.resize(program_.schedule().sends.size());
    for (std::uint32_t m = 0; m < place_.size(); ++m) {
      auto& list = to_[static_cast<std::size_t>(program_.send(m).to.index)];
      const std::size_t number = program_.single() ? 0 : program_.reception_number(m);
      list.resize(std::max(list.size(), number + 1));
      list[number] = m;
      place_[m] = static_cast<std::uint32_t>(number);
    }
  }

  /// A message arrives low + o to L + o after it was sent, and is received then or later.
  void travel(std::int64_t low) {
    const std::int64_t least = machine_.o.ticks + low;
    const std::int64_t most = machine_.o.ticks + machine_.L.ticks;
    for (std::uint32_t m = 0; m < place_.size(); ++m) {
      const std::int64_t planned = program_.send(m).begin.ticks;
      sends_.push_back(moment(planned));
      arrivals_.push_back(moment(planned + least));
      receptions_.push_back(moment(planned + least));
      for (std::int64_t t = planned; t < horizon_; ++t) {
        require({after(arrivals_[m], t), by(sends_[m], t - least)});
        require({after(sends_[m], t), by(arrivals_[m], t + most)});
        require({after(receptions_[m], t), by(arrivals_[m], t)});
      }
    }
  }

  /// First come, first served, the adversary orders what comes together; receptions keep their gap.
  void queue(const std::vector<std::uint32_t>& pool) {
    const std::size_t n = pool.size();
    const std::int64_t gap = machine_.gap().ticks;
    ahead_.emplace_back(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) ahead_.back()[i * n + j] = fresh();
    }
    for (const std::uint32_t a : pool) {
      for (const std::uint32_t b : pool) {
        if (a == b) continue;
        const int order = ahead(a, b);
        for (std::int64_t t = 0; t < horizon_; ++t) {
          require({-order, after(receptions_[b], t), by(receptions_[a], t - gap)});
          require({-order, after(arrivals_[b], t), by(arrivals_[a], t)});
        }
        for (const std::uint32_t c : pool) {
          if (c != a && c != b) require({-order, -ahead(b, c), ahead(a, c)});
        }
      }
    }
  }

  /// o = 0: sends and receptions do not compete. Each begins as soon as it may.
  void without_overhead(Rank rank) {
    const std::int64_t gap = machine_.gap().ticks;
    const auto& pool = to_[static_cast<std::size_t>(rank.index)];
    for (std::int64_t t = 0; t < horizon_; ++t) {
      Clause port_in_use;
      for (const std::uint32_t m : pool) port_in_use.push_back(within(receptions_[m], t - gap, t));
      for (const std::uint32_t m : pool) {
        Clause served = port_in_use;
        served.insert(served.end(), {after(arrivals_[m], t), by(receptions_[m], t)});
        require(served);
      }
    }
    const auto actions = program_.actions_of(rank);
    for (std::uint32_t m = actions.first; m < actions.end; ++m) {
      for (std::int64_t t = program_.send(m).begin.ticks; t < horizon_; ++t) {
        Clause conditions;
        if (never(m)) conditions.push_back(-true_);
        if (m > actions.first) conditions.push_back(by(sends_[m - 1], t - gap));
        for (const std::uint32_t need : needs_of(m)) conditions.push_back(by(receptions_[need], t));
        Clause sent = {by(sends_[m], t)};
        for (const int condition : conditions) {
          require({-sent[0], condition});
          sent.push_back(-condition);
        }
        require(sent);
      }
    }
  }

  /// o > 0: the processor does one thing at a time; of a reception and a send that may both begin, the one planned first.
  void with_overhead(Rank rank) {
    const std::int64_t o = machine_.o.ticks;
    const std::int64_t gap = machine_.gap().ticks;
    const auto& pool = to_[static_cast<std::size_t>(rank.index)];
    const auto actions = program_.actions_of(rank);
    const auto planned = [&](std::uint32_t m) { return reception_begin(machine_, program_.send(m)).ticks; };
    for (std::int64_t t = 0; t < horizon_; ++t) {
      Clause occupied;
      Clause port_in_use;
      for (const std::uint32_t m : pool) {
        occupied.push_back(within(receptions_[m], t - o, t - 1));
        port_in_use.push_back(within(receptions_[m], t - gap, t - 1));
      }
      for (std::uint32_t m = actions.first; m < actions.end; ++m) occupied.push_back(within(sends_[m], t - o, t - 1));
      const int busy = any(occupied);
      const int closed = any(port_in_use);
      Clause begins;             // what begins now, receptions first
      std::vector<int> waiting;  // by place in the pool: it has arrived and was not received before
      for (const std::uint32_t m : pool) {
        begins.push_back(at(receptions_[m], t));
        waiting.push_back(both(by(arrivals_[m], t), after(receptions_[m], t - 1)));
        require({-begins.back(), -busy});
      }
      for (std::uint32_t m = actions.first; m < actions.end; ++m) {
        const int sent = at(sends_[m], t);
        begins.push_back(sent);
        int ready = both(after(sends_[m], t - 1), -busy);
        if (never(m) || program_.send(m).begin.ticks > t) ready = -true_;
        if (m > actions.first) ready = both(ready, by(sends_[m - 1], t - gap));
        for (const std::uint32_t need : needs_of(m)) ready = both(ready, by(receptions_[need], t - o));
        require({-sent, ready});
        Clause goes = {-ready, sent};  // it goes, or a reception that was planned first
        for (std::size_t i = 0; i < pool.size(); ++i) {
          if (planned(pool[i]) <= program_.send(m).begin.ticks) {
            goes.push_back(begins[i]);
            Clause excuse = {-sent, closed, -waiting[i]};  // whoever was planned first is not the first in the pool
            for (std::size_t j = 0; j < pool.size(); ++j) {
              if (j != i) excuse.push_back(both(waiting[j], ahead(pool[j], pool[i])));
            }
            require(excuse);
          } else {
            require({-ready, -begins[i]});
          }
        }
        require(goes);
      }
      for (std::size_t i = 0; i < pool.size(); ++i) {
        Clause served = begins;
        served.insert(served.end(), {-waiting[i], busy, closed});
        require(served);
        for (std::size_t s = pool.size(); s < begins.size(); ++s) require({-begins[i], -begins[s]});
      }
    }
  }

  const simulate::Program& program_;
  LogP machine_;
  std::int64_t horizon_;
  Cnf cnf_;
  int true_ = 0;
  std::vector<Moment> sends_, arrivals_, receptions_;  // by message
  std::vector<std::vector<std::uint32_t>> to_;         // by rank: the messages it receives, as they are numbered
  std::vector<std::uint32_t> place_;                   // by message: its place in to_
  std::vector<std::vector<int>> ahead_;                // by rank: variables of pairs in to_
};

}  // namespace

WorstCase worst_case_sat(const Schedule& schedule, const AdversaryOptions& options, WorstCase best) {
  if (!sat_available())
    throw Error("the exact adversary by SAT needs CaDiCaL: install libcadical-dev and configure again");
  if (!schedule.adds.empty()) throw Error("the exact adversary plays messages only: use the heuristic for sums");
  const simulate::Program program(schedule);
  const Time o = schedule.machine.o;
  const std::vector<Time> due = due_times(program.schedule(), options.lateness);
  if (best.latencies.empty()) {
    best.latencies.assign(due.size(), schedule.machine.L);
    best.order.assign(due.size(), 0);
  }
  best.nominal = actual_finish(schedule);
  best.exact = false;
  best.how = "the worst that SAT found in time";
  const auto conflicts = static_cast<std::int64_t>(std::clamp<std::uint64_t>(options.conflicts, 1, 1'000'000'000));
  for (best.explored = 1;; ++best.explored) {
    const Time aim = best.late + Time{1};
    Time horizon{0};
    for (const Time time : due) horizon = std::max(horizon, time + aim - o);
    PlayFormula formula(program, options.low, horizon);
    PlayFormula::Clause somebody_late;
    for (std::uint32_t m = 0; m < due.size(); ++m) {
      somebody_late.push_back(-formula.received_by(m, due[m] + aim - o - Time{1}));
    }
    formula.require(somebody_late);
    SatSolver solver(formula.cnf());
    const Verdict verdict = solver.decide({}, conflicts, {});
    if (verdict == Verdict::unsatisfiable) {
      best.exact = true;
      best.how = "by SAT";
    }
    if (verdict != Verdict::satisfiable) return best;
    formula.read([&](Literal literal) { return solver.value(literal); }, best);
    const Time late = lateness_of(replay(schedule, best), due);
    CHASQUI_CHECK(late >= aim, "late={} aim={}", late.ticks, aim.ticks);
    best.late = late;
    if (late >= options.enough) return best;
  }
}

}  // namespace chasqui::solve
