// SPDX-License-Identifier: MIT
#include "solve/milp.hpp"

#include <CbcEventHandler.hpp>
#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <CoinBuild.hpp>
#include <OsiClpSolverInterface.hpp>
#include <cmath>
#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui::solve {
namespace {

/// CBC asks at every node whether to go on.
class Handler final : public CbcEventHandler {
 public:
  explicit Handler(const Stop* asked) : stop_(asked) {}
  CbcAction event(CbcEvent) override { return *stop_ && (*stop_)() ? CbcEventHandler::stop : noAction; }
  CbcEventHandler* clone() const override { return new Handler(*this); }

 private:
  const Stop* stop_;
};

void load(OsiClpSolverInterface& solver, const Program& program) {
  const double infinity = solver.getInfinity();
  for (const Program::Column& column : program.columns) {
    solver.addCol(0, nullptr, nullptr, 0.0, column.most, column.objective);
    solver.setInteger(solver.getNumCols() - 1);
  }
  CoinBuild rows;
  for (const Program::Row& row : program.rows) {
    std::vector<int> columns;
    std::vector<double> values;
    for (const Program::Term& term : row.terms) {
      columns.push_back(term.column);
      values.push_back(term.coefficient);
    }
    rows.addRow(static_cast<int>(columns.size()), columns.data(), values.data(),
                row.least == -Program::kUnbounded ? -infinity : row.least,
                row.most == Program::kUnbounded ? infinity : row.most);
  }
  solver.OsiSolverInterface::addRows(rows);
}

}  // namespace

bool milp_available() { return true; }

MilpResult minimise(const Program& program, double seconds, const Stop& stop) {
  MilpResult result;
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  load(solver, program);
  CbcModel model(solver);
  Handler handler(&stop);
  model.passInEventHandler(&handler);
  CbcMain0(model);
  model.setLogLevel(0);
  const std::string limit = std::to_string(seconds > 0 ? seconds : 1e9);
  const char* arguments[] = {"cbc", "-log", "0", "-sec", limit.c_str(), "-timeMode", "elapsed", "-solve", "-quit"};
  CbcMain1(static_cast<int>(std::size(arguments)), arguments, model);

  if (const double* best = model.bestSolution(); best != nullptr) {
    for (std::size_t c = 0; c < program.columns.size(); ++c) result.point.push_back(std::lround(best[c]) == 1);
    CHASQUI_CHECK(feasible(program, result.point), "CBC gave a point that breaks a row, columns={}", program.columns.size());
    result.verdict = Verdict::satisfiable;
    result.optimal = model.isProvenOptimal();
  } else if (model.isProvenInfeasible()) {
    result.verdict = Verdict::unsatisfiable;
  }
  result.objective_bound = model.getBestPossibleObjValue();
  return result;
}

}  // namespace chasqui::solve
