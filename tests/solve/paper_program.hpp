// SPDX-License-Identifier: MIT
// The integer programs of Subramonian and Venkatasubramanian, "Optimal broadcast in a distributed memory model of parallel
// computation" (1993), as printed: what is wrong with them is in errata.md, Errata 15 to 19, and paper_program_test.cpp
// shows it; bench/solve.cpp has them as a rival. The paper counts processors, items and steps from 1; so does this file.
#pragma once

#include <cstdint>
#include <optional>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/solve/program.hpp"

namespace chasqui::solve {

/// The paper's theorem 3.3: B(P-1, L) + L + (k-1) - k*, with its step numbers (one more than a finish time).
std::int64_t printed_lower_bound(std::int64_t P, std::int64_t L, std::int64_t k);

/// The paper's lemma 4.1: 2L + k + P - 2.
std::int64_t printed_upper_bound(std::int64_t P, std::int64_t L, std::int64_t k);

/// Columns f(k', p', t', Send), f(k', p', t', Receive) and X(t').
class PaperProgram {
 public:
  PaperProgram(std::int64_t P, std::int64_t L, std::int64_t k,
               std::int64_t last_step);  ///< All variables and constraints, as printed.

  int send(std::int64_t item, std::int64_t processor, std::int64_t step) const {
    return at(item, processor, step);
  }  ///< column: `processor` sends `item` at `step`
  int receive(std::int64_t item, std::int64_t processor, std::int64_t step) const {
    return at(item, processor, step) + receive_;
  }  ///< column: `processor` receives `item` at `step`
  int enabled(std::int64_t step) const {
    return 2 * receive_ + static_cast<int>(step) - 1;
  }  ///< column: something is sent at `step`

  /// The schedule that a point claims to be: receptions matched with sends L steps earlier. Empty if a reception has no sender.
  std::optional<Schedule> decode(const Point& point) const;

  Program program;
  const std::int64_t P, L, k, last_step;

 private:
  int at(std::int64_t item, std::int64_t processor, std::int64_t step) const {
    return static_cast<int>(((item - 1) * P + processor - 1) * last_step + step - 1);
  }
  int receive_;
};

/// Section 4 as printed, steps 1 .. last_step (the paper: printed_upper_bound). Minimises the steps with sends beyond the printed
/// lower bound less L.
PaperProgram literal_program(std::int64_t P, std::int64_t L, std::int64_t k, std::int64_t last_step);

/// Section 5.2: is there a continuous broadcast at the bound? Items and steps up to the one in which item 1 is everywhere; the time axis is
/// shifted by L, so item k' is first received in step k'. The counts are corrected (P-1 and P-2 for the paper's P and P-1; the reception
/// from the source counted). Feasible is necessary for a continuous broadcast at the bound, not sufficient.
PaperProgram reduced_program(std::int64_t P, std::int64_t L);

/// The rows as a formula; column c is variable c + 1. The objective is left out. REQUIRES coefficients of 1 and -1.
Cnf formula(const Program& program);

}  // namespace chasqui::solve
