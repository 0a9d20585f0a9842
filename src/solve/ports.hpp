// SPDX-License-Identifier: MIT
// Rules 2, 3 and 4 of docs/model.md as clauses: who may send and receive when. Shared by all encodings.
#pragma once

#include <vector>

#include "chasqui/solve/cnf.hpp"
#include "chasqui/solve/instance.hpp"

namespace chasqui::solve {

/// Are the ticks a and b less than `distance` apart, in a stream (period > 0) across the end of the period?
bool closer(std::int64_t a, std::int64_t b, std::int64_t distance, std::int64_t period);

/// One rank's send port and receive port. Every message it might send or receive is registered with the tick at which the
/// send begins; rules() then writes the clauses. In a stream, ticks count modulo the period.
class Ports {
 public:
  explicit Ports(const Instance& instance) : machine_(instance.machine), period_(instance.period.ticks) {}

  void may_send(Literal message, std::int64_t begin) { add(sends_, message, begin); }
  void may_receive(Literal message, std::int64_t begin) { add(receptions_, message, begin); }

  /// The clauses. Call when all messages are registered.
  void rules(Cnf& cnf);
  /// The literal "a send begins now" by tick (0: none can).
  const std::vector<Literal>& sending(Cnf& cnf);
  /// Add what follows from "receives (sends) at least n messages": the j-th no later than (n-j) gaps before the last tick. It says
  /// nothing new, but a solver does not see it. Not for streams.
  void receives_at_least(Cnf& cnf, std::int64_t n) { at_least(cnf, receiving(cnf), n); }
  void sends_at_least(Cnf& cnf, std::int64_t n) { at_least(cnf, sending(cnf), n); }

 private:
  using Slots = std::vector<std::vector<Literal>>;

  void add(Slots& slots, Literal message, std::int64_t begin) const;
  const std::vector<Literal>& receiving(Cnf& cnf);
  static std::vector<Literal> busy_ticks(Cnf& cnf, const Slots& slots);
  void at_least(Cnf& cnf, const std::vector<Literal>& busy, std::int64_t n) const;
  void keep_apart(Cnf& cnf, const std::vector<Literal>& busy) const;

  LogP machine_;
  std::int64_t period_;
  Slots sends_;
  Slots receptions_;
  std::vector<Literal> sending_;
  std::vector<Literal> receiving_;
};

}  // namespace chasqui::solve
