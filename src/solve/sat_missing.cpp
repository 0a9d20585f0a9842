// SPDX-License-Identifier: MIT
// Stands in for sat.cpp in a build without CaDiCaL.
#include "chasqui/base/error.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {

struct SatSolver::State {};

bool sat_available() { return false; }

SatSolver::SatSolver(const Cnf&) {
  throw Error("this build has no SAT solver: install libcadical-dev and configure again");
}
SatSolver::~SatSolver() = default;
Verdict SatSolver::decide(std::span<const Literal>, std::int64_t, const Stop&) { return Verdict::unknown; }
bool SatSolver::value(Literal) const { return false; }
void SatSolver::prefer(std::span<const Literal>) {}

Verdict refute(const Cnf&, const std::filesystem::path&, std::int64_t, const Stop&) {
  throw Error("this build has no SAT solver: install libcadical-dev and configure again");
}

}  // namespace chasqui::solve
