// SPDX-License-Identifier: MIT
// A checker for proofs of unsatisfiability, small enough to read. Shares no code with the encoders or with any solver: it reads
// DIMACS and DRAT texts and trusts nothing but itself. A clause may be added if assuming its negation leads to a conflict by unit
// propagation (RUP), or if that is so for all its resolvents on its first literal (RAT); anything may be deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chasqui::solve {
/// What came of checking a proof.
struct ProofReport {
  bool accepted = false;     ///< it refutes the formula
  std::string reason;        ///< why not, on one line; empty if accepted
  std::int64_t clauses = 0;  ///< of the formula
  std::int64_t steps = 0;    ///< additions and deletions in the proof
  std::int64_t checked = 0;  ///< additions that the contradiction needed
};

/// Does `proof` (DRAT, text format) derive the empty clause from `formula` (DIMACS)? Backward: only the additions that the
/// contradiction needs are checked. Time: one unit propagation per such addition.
ProofReport check_drat(std::string_view formula, std::string_view proof);

}  // namespace chasqui::solve
