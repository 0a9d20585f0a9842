// SPDX-License-Identifier: MIT
// Everything an adversary can do with a schedule up to a horizon, as clauses: the times of sends, arrivals and receptions
// (order encoding: one variable "at or before t" for each t), who is ahead of whom in a pool, and the rules of the
// engine, which begins at every instant whatever may begin. Solutions are exactly the beginnings of plays.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "chasqui/solve/cnf.hpp"
#include "chasqui/solve/worst_case.hpp"
#include "simulate/program.hpp"

namespace chasqui::solve {

class PlayFormula {
 public:
  using Clause = std::vector<Literal>;

  /// Latencies low .. L; nothing is said about times from `horizon` on.
  /// Size: O(messages · horizon · most messages to one rank).
  PlayFormula(const simulate::Program& program, Time low, Time horizon);

  /// A literal: the reception of the message has begun at or before t.
  int received_by(std::uint32_t message, Time t) const { return by(receptions_[message], t.ticks); }
  void require(Clause clause);
  const Cnf& cnf() const { return cnf_; }

  /// Reads latencies and priorities off a solution; what is left open takes L.
  void read(const std::function<bool(int)>& value, WorstCase& witness) const;

 private:
  /// A time in low .. horizon; the horizon itself stands for "then or later".
  struct Moment {
    std::int64_t low;
    int first;  ///< the variables: at or before low, low + 1, …, horizon - 1
  };

  int fresh() { return cnf_.fresh(); }
  Moment moment(std::int64_t low);
  int by(const Moment& moment, std::int64_t t) const;
  int after(const Moment& moment, std::int64_t t) const { return -by(moment, t); }
  int both(int a, int b);
  int any(const Clause& literals);
  int at(const Moment& moment, std::int64_t t) { return within(moment, t - 1, t); }
  int within(const Moment& moment, std::int64_t after_t, std::int64_t to);
  int ahead(std::uint32_t a, std::uint32_t b) const;
  std::int64_t time(const Moment& moment, const std::function<bool(int)>& value) const;

  bool never(std::uint32_t message) const;
  std::vector<std::uint32_t> needs_of(std::uint32_t message) const;
  void list_messages();
  void travel(std::int64_t low);
  void queue(const std::vector<std::uint32_t>& pool);
  void without_overhead(Rank rank);
  void with_overhead(Rank rank);

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

}  // namespace chasqui::solve
