// SPDX-License-Identifier: MIT
// CaDiCaL behind a small door: nothing else includes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {

enum class Verdict { satisfiable, unsatisfiable, unknown };

/// Polled now and then; true ends the search with `unknown`.
using Stop = std::function<bool()>;

bool sat_available();

/// An incremental solver for one formula. REQUIRES sat_available().
class SatSolver {
 public:
  explicit SatSolver(const Cnf& cnf);
  ~SatSolver();
  SatSolver(const SatSolver&) = delete;
  SatSolver& operator=(const SatSolver&) = delete;

  /// Decides the formula under the assumptions; at most `conflicts` of them (0: no limit).
  Verdict decide(std::span<const Literal> assumptions, std::int64_t conflicts, const Stop& stop);
  /// REQUIRES that the last verdict was satisfiable.
  bool value(Literal literal) const;
  /// Try these values first.
  void prefer(std::span<const Literal> literals);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Decides the formula from scratch and writes a DRAT proof (text) of unsatisfiability to `proof`; at most `conflicts` (0: no limit).
Verdict refute(const Cnf& cnf, const std::filesystem::path& proof, std::int64_t conflicts, const Stop& stop);

}  // namespace chasqui::solve
