// SPDX-License-Identifier: MIT
// The integer program of Subramonian and Venkatasubramanian (section 4), corrected, and carried over to machines with overhead
// and gap, to single sending, all-gather and streams. Corrected: a reception needs a sender L + 2o before it, without exception,
// and sends are enabled up to a proved bound only. Reduce, all-reduce and scan: the clauses of the encoding as rows.
#pragma once

#include <memory>

#include "chasqui/solve/encoding.hpp"
#include "chasqui/solve/program.hpp"

namespace chasqui::solve {
/// Is there a schedule, as a 0-1 program?
class IntegerProgram {
 public:
  virtual ~IntegerProgram() = default;

  /// Its objective counts the send steps used beyond the bound: objective n means the finish is bound + n.
  const Program& program() const { return program_; }
  virtual Schedule decode(const Point& point) const = 0;  ///< the schedule that a solution stands for

 protected:
  Program program_;
};

/// Schedules of the instance that finish by `horizon`, by their finish. REQUIRES that `bound` is a lower bound.
std::unique_ptr<IntegerProgram> integer_program(const Instance& instance, Time bound, Time horizon);

}  // namespace chasqui::solve
