// SPDX-License-Identifier: MIT
#include "chasqui/solve/program.hpp"

#include <cstdlib>

namespace chasqui::solve {

int Program::add_column(int objective) {
  columns.push_back({objective, 1});
  return static_cast<int>(columns.size()) - 1;
}

void Program::fix_to_zero(int column) { columns[static_cast<std::size_t>(column)].most = 0; }

bool feasible(const Program& program, const Point& point) {
  for (std::size_t c = 0; c < program.columns.size(); ++c) {
    if (point[c] && program.columns[c].most == 0) return false;
  }
  for (const Program::Row& row : program.rows) {
    int sum = 0;
    for (const Program::Term& term : row.terms)
      sum += point[static_cast<std::size_t>(term.column)] ? term.coefficient : 0;
    if (sum < row.least || sum > row.most) return false;
  }
  return true;
}

Program program_from(const Cnf& cnf) {
  Program program;
  for (int v = 0; v < cnf.variables(); ++v) program.add_column();
  std::vector<Program::Term> terms;
  int least = 1;
  for (const Literal literal : cnf.literals()) {
    if (literal == 0) {
      program.at_least(std::move(terms), least);
      terms = {};
      least = 1;
    } else {
      terms.push_back({std::abs(literal) - 1, literal > 0 ? 1 : -1});
      least -= literal < 0 ? 1 : 0;
    }
  }
  return program;
}

}  // namespace chasqui::solve
