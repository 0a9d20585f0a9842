// SPDX-License-Identifier: MIT
#include "solve/milp.hpp"

#include <CbcModel.hpp>
#include <CbcSolver.hpp>
#include <CoinBuild.hpp>
#include <OsiClpSolverInterface.hpp>
#include <cmath>
#include <cstring>
#include <string>

#include "chasqui/base/error.hpp"
#include "solve/child.hpp"

namespace chasqui::solve {
namespace {

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

MilpResult minimise_here(const Program& program, double seconds) {
  MilpResult result;
  OsiClpSolverInterface solver;
  solver.messageHandler()->setLogLevel(0);
  load(solver, program);
  CbcModel model(solver);
  CbcMain0(model);
  model.setLogLevel(0);
  const std::string limit = std::to_string(seconds > 0 ? seconds : 1e9);
  const char* arguments[] = {"cbc", "-log", "0", "-sec", limit.c_str(), "-timeMode", "elapsed", "-solve", "-quit"};
  CbcMain1(static_cast<int>(std::size(arguments)), arguments, model);

  if (const double* best = model.bestSolution(); best != nullptr) {
    for (std::size_t c = 0; c < program.columns.size(); ++c) result.point.push_back(std::lround(best[c]) == 1);
    CHASQUI_CHECK(feasible(program, result.point), "CBC gave a point that breaks a row, columns={}",
                  program.columns.size());
    result.verdict = Verdict::satisfiable;
    result.optimal = model.isProvenOptimal();
  } else if (model.isProvenInfeasible()) {
    result.verdict = Verdict::unsatisfiable;
  }
  result.objective_bound = model.getBestPossibleObjValue();
  return result;
}

/// Verdict, optimal, bound, then a byte for each column of the point.
std::string to_bytes(const MilpResult& result) {
  std::string bytes{static_cast<char>(result.verdict), static_cast<char>(result.optimal)};
  bytes.append(reinterpret_cast<const char*>(&result.objective_bound), sizeof result.objective_bound);
  for (const bool value : result.point) bytes += value ? '1' : '0';
  return bytes;
}

MilpResult from_bytes(const std::string& bytes) {
  MilpResult result;
  std::size_t at = 2 + sizeof result.objective_bound;
  CHASQUI_CHECK(bytes.size() >= at, "bytes={}", bytes.size());
  result.verdict = static_cast<Verdict>(bytes[0]);
  result.optimal = bytes[1] != 0;
  std::memcpy(&result.objective_bound, bytes.data() + 2, sizeof result.objective_bound);
  for (; at < bytes.size(); ++at) result.point.push_back(bytes[at] == '1');
  return result;
}

}  // namespace

bool milp_available() { return true; }

// CBC installs a SIGINT handler of its own and asks its event handlers at nodes only, which may be minutes apart: hence a child process.
MilpResult minimise(const Program& program, double seconds, const Stop& stop) {
  const auto bytes = in_child([&] { return to_bytes(minimise_here(program, seconds)); }, stop);
  if (bytes) return from_bytes(*bytes);
  if (!stop || !stop()) throw Error("CBC ended without an answer: is there enough memory? (`--engine sat` needs less)");
  return {};
}

}  // namespace chasqui::solve
