// SPDX-License-Identifier: MIT
#include "solve/sat.hpp"

#include <algorithm>
#include <cadical.hpp>
#include <cstdlib>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

class Watch final : public CaDiCaL::Terminator {
 public:
  explicit Watch(const Stop& stop) : stop_(stop) {}
  bool terminate() override { return stop_ && stop_(); }

 private:
  const Stop& stop_;
};

void load(CaDiCaL::Solver& solver, const Cnf& cnf) {
  solver.reserve(cnf.variables());
  for (const Literal literal : cnf.literals()) solver.add(literal);
}

void limit_conflicts(CaDiCaL::Solver& solver, std::int64_t conflicts) {
  if (conflicts > 0) solver.limit("conflicts", static_cast<int>(std::min<std::int64_t>(conflicts, 1 << 30)));
}

Verdict run(CaDiCaL::Solver& solver, const Stop& stop) {
  Watch watch(stop);
  solver.connect_terminator(&watch);
  const int result = solver.solve();
  solver.disconnect_terminator();
  return result == 10 ? Verdict::satisfiable : result == 20 ? Verdict::unsatisfiable : Verdict::unknown;
}

}  // namespace

struct SatSolver::State {
  mutable CaDiCaL::Solver solver;
};

bool sat_available() { return true; }

SatSolver::SatSolver(const Cnf& cnf) : state_(std::make_unique<State>()) {
  state_->solver.set("quiet", 1);
  load(state_->solver, cnf);
}

SatSolver::~SatSolver() = default;

Verdict SatSolver::decide(std::span<const Literal> assumptions, std::int64_t conflicts, const Stop& stop) {
  for (const Literal literal : assumptions) state_->solver.assume(literal);
  limit_conflicts(state_->solver, conflicts);
  return run(state_->solver, stop);
}

// Versions of CaDiCaL differ in what val() gives for a negative literal.
bool SatSolver::value(Literal literal) const { return (state_->solver.val(std::abs(literal)) > 0) == (literal > 0); }

void SatSolver::prefer(std::span<const Literal> literals) {
  for (const Literal literal : literals) state_->solver.phase(literal);
}

Verdict refute(const Cnf& cnf, const std::filesystem::path& proof, std::int64_t conflicts, const Stop& stop) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  solver.set("binary", 0);
  if (!solver.trace_proof(proof.c_str()))
    throw Error("{}: the proof cannot be written: is the folder writable?", proof.string());
  load(solver, cnf);
  limit_conflicts(solver, conflicts);
  const Verdict verdict = run(solver, stop);
  solver.close_proof_trace();
  return verdict;
}

}  // namespace chasqui::solve
