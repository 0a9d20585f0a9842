// SPDX-License-Identifier: MIT
// Reduce, all-reduce and scan. A message carries the fold of an interval of contributions, modulo P. For each pair of ranks and step:
// `message`; for each interval, rank and step: `carries` (the message received is that fold), `got` (it was, at this step or
// before) and `can` (the interval is exactly tiled by folds received and the rank's own contribution).
// A message carries one fold or, with `two_values`, one or two that have no contribution in common. Where order matters, no interval wraps.
#include <algorithm>
#include <utility>

#include "chasqui/base/error.hpp"
#include "solve/encode.hpp"
#include "solve/ports.hpp"

namespace chasqui::solve {
namespace {

/// May the ranks be renamed by a rotation?
bool turns(const Instance& instance) {
  return instance.problem.kind == Kind::allreduce && instance.problem.commutative;
}

class Folds final : public Encoding {
 public:
  Folds(const Instance& instance, Time horizon)
      : Encoding(instance, horizon), P_(instance.machine.P), steps_(last_step() + 1),
        lambda_(instance.machine.lambda().ticks), wraps_(instance.problem.commutative) {
    if (P_ == 1) return;
    if (steps_ <= 0) {  // no message arrives within the horizon
      cnf_.clause({});
      return;
    }
    make_variables();
    fill_messages();
    tile_intervals();
    send_what_is_there();
    obey_ports();
    keep_promise();
    begin_at_once();
  }

  Schedule decode(const Model& model) const override {
    Schedule schedule;
    schedule.machine = instance_.machine;
    schedule.problem = instance_.problem;
    for (std::int64_t q = 0; P_ > 1 && q < P_; ++q) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        for (std::int64_t p = 0; p < P_; ++p) {
          const Literal message = message_[pair(p, q, t)];
          if (message == 0 || !model(message)) continue;
          std::vector<Part> parts;
          each_interval([&](std::int64_t lo, std::int64_t len) {
            const Literal carries = carries_[at(lo, len, q, t)];
            if (carries != 0 && model(carries))
              parts.push_back({static_cast<std::int32_t>(lo), static_cast<std::int32_t>(len)});
          });
          CHASQUI_CHECK(parts.size() == 1 || (parts.size() == 2 && instance_.two_values), "parts={}", parts.size());
          parts.resize(2);
          schedule.sends.push_back(
              {Time{t}, Rank{static_cast<std::int32_t>(p)}, Rank{static_cast<std::int32_t>(q)}, parts[0], parts[1]});
          schedule.finish = std::max(schedule.finish, Time{t} + instance_.machine.lambda());
        }
      }
    }
    normalise(schedule);
    return schedule;
  }

  std::vector<Literal> describe(const Schedule& schedule) const override {
    std::vector<bool> value(static_cast<std::size_t>(cnf_.variables()) + 1, false);
    for (const Send& send : schedule.sends) {
      const std::int64_t t = send.begin.ticks;
      CHASQUI_CHECK(t >= 0 && t < steps_ && (send.second.len == 0 || instance_.two_values), "step={} steps={}", t,
                    steps_);
      value[static_cast<std::size_t>(message_[pair(send.from.index, send.to.index, t)])] = true;
      for (const Part& part : {send.part, send.second}) {
        if (part.len > 0) value[static_cast<std::size_t>(carries_[at(part.lo, part.len, send.to.index, t)])] = true;
      }
    }
    std::vector<Literal> literals;
    for (const auto* variables : {&message_, &carries_}) {
      for (const Literal x : *variables) {
        if (x != 0) literals.push_back(value[static_cast<std::size_t>(x)] ? x : -x);
      }
    }
    return literals;
  }

 private:
  /// The interval lo, …, lo+len-1 mod P as an index.
  std::int64_t interval(std::int64_t lo, std::int64_t len) const { return (lo % P_) * P_ + len - 1; }

  /// The whole circle is one interval, from 0 on.
  bool exists(std::int64_t lo, std::int64_t len) const { return lo + len <= P_ || (wraps_ && len < P_); }
  std::size_t pair(std::int64_t p, std::int64_t q, std::int64_t t) const {
    return static_cast<std::size_t>((p * P_ + q) * steps_ + t);
  }

  std::size_t at(std::int64_t lo, std::int64_t len, std::int64_t rank, std::int64_t t) const {
    return static_cast<std::size_t>((interval(lo, len) * P_ + rank) * steps_ + t);
  }

  template <typename Do>
  void each_interval(Do what) const {
    for (std::int64_t lo = 0; lo < P_; ++lo) {
      for (std::int64_t len = 1; len <= P_ && exists(lo, len); ++len) what(lo, len);
    }
  }

  /// What is sent at a step counts what was sent until λ before; the promise counts everything.
  bool matters(std::int64_t t) const { return t + lambda_ < steps_ || t == steps_ - 1; }

  void make_variables() {
    message_.assign(static_cast<std::size_t>(P_ * P_ * steps_), 0);
    carries_.assign(static_cast<std::size_t>(P_ * P_ * P_ * steps_), 0);
    got_ = can_ = carries_;
    for (std::int64_t p = 0; p < P_; ++p) {
      for (std::int64_t q = 0; q < P_; ++q) {
        for (std::int64_t t = 0; p != q && t < steps_; ++t) message_[pair(p, q, t)] = cnf_.fresh();
      }
    }
    each_interval([&](std::int64_t lo, std::int64_t len) {
      for (std::int64_t q = 0; q < P_; ++q) {
        if (len == 1 && lo == q) continue;  // its own contribution is there from the start
        for (std::int64_t t = 0; t < steps_; ++t) {
          carries_[at(lo, len, q, t)] = cnf_.fresh();
          got_[at(lo, len, q, t)] = cnf_.fresh();
          if (matters(t)) can_[at(lo, len, q, t)] = cnf_.fresh();
        }
      }
    });
  }

  /// A message carries one fold (or two), and a fold comes with a message; got(t) only if got(t-1) or carried now.
  void fill_messages() {
    for (std::int64_t q = 0; q < P_; ++q) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        std::vector<Literal> folds, messages;
        each_interval([&](std::int64_t lo, std::int64_t len) {
          const Literal carries = carries_[at(lo, len, q, t)];
          if (carries == 0) return;
          folds.push_back(carries);
          const Literal got = got_[at(lo, len, q, t)];
          if (t == 0) {
            cnf_.clause({-got, carries});
          } else {
            cnf_.clause({-got, got_[at(lo, len, q, t - 1)], carries});
          }
        });
        instance_.two_values ? at_most_two_apart(q, t) : at_most_one(cnf_, folds);
        for (std::int64_t p = 0; p < P_; ++p) {
          if (const Literal message = message_[pair(p, q, t)]; message != 0) messages.push_back(message);
        }
        for (const Literal message : messages) {
          std::vector<Literal> clause = folds;
          clause.push_back(-message);
          cnf_.clause(clause);
          cnf_.clause({-message, allowed_[static_cast<std::size_t>(t)]});
        }
        for (const Literal fold : folds) {
          std::vector<Literal> clause = messages;
          clause.push_back(-fold);
          cnf_.clause(clause);
        }
      }
    }
  }

  /// A message of two values: no third one, and no contribution twice.
  void at_most_two_apart(std::int64_t rank, std::int64_t t) {
    std::vector<Literal> folds;
    std::vector<std::pair<std::int64_t, std::int64_t>> where;
    each_interval([&](std::int64_t lo, std::int64_t len) {
      if (const Literal carries = carries_[at(lo, len, rank, t)]; carries != 0) {
        folds.push_back(carries);
        where.emplace_back(lo, len);
      }
    });
    const auto overlap = [&](std::size_t a, std::size_t b) {
      const std::int64_t ahead = (where[b].first - where[a].first + P_) % P_;
      return ahead < where[a].second || (P_ - ahead) % P_ < where[b].second;
    };
    for (std::size_t a = 0; a < folds.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (overlap(a, b)) cnf_.clause({-folds[a], -folds[b]});
      }
    }
    const std::vector<Literal> many = count(cnf_, folds, Counts::from_below, 3);
    if (many.size() == 3) cnf_.clause({-many[2]});
  }

  void tile_intervals() {
    for (std::int64_t q = 0; q < P_; ++q) {
      for (std::int64_t t = 0; t < steps_; ++t) {
        if (!matters(t)) continue;
        each_interval([&](std::int64_t lo, std::int64_t len) {
          if (can_[at(lo, len, q, t)] != 0) tile(lo, len, q, t);
        });
      }
    }
  }

  /// The circle may be tiled from anywhere.
  void tile(std::int64_t lo, std::int64_t len, std::int64_t rank, std::int64_t t) {
    std::vector<Literal> ways{-can_[at(lo, len, rank, t)], got_[at(lo, len, rank, t)]};
    for (std::int64_t turn = 0; turn < (wraps_ && len == P_ ? P_ : 1); ++turn)
      tile_from((lo + turn) % P_, len, rank, t, ways);
    cnf_.clause(ways);
  }

  /// The first tile is a fold received, or the rank's own contribution; the rest can be tiled in its turn.
  void tile_from(std::int64_t lo, std::int64_t len, std::int64_t rank, std::int64_t t, std::vector<Literal>& ways) {
    for (std::int64_t first = 1; first < len; ++first) {
      const Literal tile = got_[at(lo, first, rank, t)];  // 0: its own, always there
      const Literal rest = can_[at((lo + first) % P_, len - first, rank, t)];
      if (tile == 0) {
        ways.push_back(rest);
      } else if (rest == 0) {
        ways.push_back(tile);
      } else {
        const Literal both = cnf_.fresh();
        cnf_.clause({-both, tile});
        cnf_.clause({-both, rest});
        ways.push_back(both);
      }
    }
  }

  void send_what_is_there() {
    each_interval([&](std::int64_t lo, std::int64_t len) {
      for (std::int64_t p = 0; p < P_; ++p) {
        if (len == 1 && lo == p) continue;
        for (std::int64_t q = 0; q < P_; ++q) {
          if (p == q) continue;
          for (std::int64_t t = 0; t < steps_; ++t) {
            const Literal carries = carries_[at(lo, len, q, t)], message = message_[pair(p, q, t)];
            if (carries == 0) continue;
            if (t < lambda_) {
              cnf_.clause({-message, -carries});
            } else {
              cnf_.clause({-message, -carries, can_[at(lo, len, p, t - lambda_)]});
            }
          }
        }
      }
    });
  }

  void obey_ports() {
    for (std::int64_t p = 0; p < P_; ++p) {
      Ports ports(instance_);
      for (std::int64_t q = 0; q < P_; ++q) {
        for (std::int64_t t = 0; p != q && t < steps_; ++t) {
          ports.may_send(message_[pair(p, q, t)], t);
          ports.may_receive(message_[pair(q, p, t)], t);
        }
      }
      ports.rules(cnf_);
      sending_.push_back(ports.sending(cnf_));
    }
  }

  void keep_promise() {
    const std::int64_t end = steps_ - 1;
    const Problem& problem = instance_.problem;
    for (std::int64_t p = 0; p < P_; ++p) {
      if (problem.kind == Kind::scan) {
        const std::int64_t len = problem.exclusive ? p : p + 1;
        if (p > 0) cnf_.clause({can_[at(0, len, p, end)]});
      } else if (problem.kind == Kind::allreduce || p == problem.root.index) {
        cnf_.clause({can_[at(0, P_, p, end)]});
      }
    }
  }

  /// Somebody sends at time 0; in an all-reduce in any order, by rotation, rank 0.
  void begin_at_once() {
    std::vector<Literal> somebody;
    for (const std::vector<Literal>& sending : sending_) somebody.push_back(sending.front());
    if (turns(instance_)) {
      cnf_.clause({somebody.front()});
    } else {
      cnf_.clause(somebody);
    }
  }

  std::int64_t P_, steps_, lambda_;
  bool wraps_;
  std::vector<Literal> message_;              ///< by sender, receiver, step
  std::vector<Literal> carries_, got_, can_;  ///< by interval, rank, step
  std::vector<std::vector<Literal>> sending_;
};

}  // namespace

std::unique_ptr<Encoding> encode_folds(const Instance& instance, Time horizon) {
  return std::make_unique<Folds>(instance, horizon);
}

Schedule canonical_folds(const Instance& instance, Schedule schedule) {
  for (Send& send : schedule.sends) {  // nobody needs its own contribution from others
    const Part own{send.to.index, 1};
    if (send.second == own) send.second = {};
    if (send.part == own) send.part = std::exchange(send.second, {});
  }
  std::erase_if(schedule.sends, [](const Send& send) { return send.part.len == 0; });
  if (schedule.sends.empty()) return schedule;
  const auto first = *std::min_element(schedule.sends.begin(), schedule.sends.end());
  const auto P = static_cast<std::int32_t>(instance.machine.P);
  const std::int32_t turn = turns(instance) ? first.from.index : 0;
  const auto rotate = [&](std::int32_t rank) { return (rank + P - turn) % P; };
  for (Send& send : schedule.sends) {
    send.begin -= first.begin;
    send.from = Rank{rotate(send.from.index)};
    send.to = Rank{rotate(send.to.index)};
    send.part.lo = rotate(send.part.lo);
    if (send.second.len > 0) send.second.lo = rotate(send.second.lo);
    if (send.part.len == P) send.part.lo = 0;
  }
  schedule.finish -= first.begin;
  return schedule;
}

}  // namespace chasqui::solve
