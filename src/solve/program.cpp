// SPDX-License-Identifier: MIT
#include "chasqui/solve/program.hpp"

#include <cstdlib>

#include "chasqui/base/error.hpp"

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

Cnf formula(const Program& program) {
  Cnf cnf;
  for (const Program::Column& column : program.columns) {
    const Literal x = cnf.fresh();
    if (column.most == 0) cnf.clause({-x});
  }
  for (const Program::Row& row : program.rows) {
    std::vector<Literal> literals;
    int negated = 0;  // -x is (not x) - 1
    for (const Program::Term& term : row.terms) {
      CHASQUI_CHECK(std::abs(term.coefficient) == 1, "coefficient={}", term.coefficient);
      literals.push_back(term.coefficient * (term.column + 1));
      negated += term.coefficient < 0 ? 1 : 0;
    }
    const int size = static_cast<int>(literals.size());
    const int least = row.least + negated;  // meaningless where unbounded, and then not used
    const int most = row.most + negated;
    if (row.most != Program::kUnbounded && most < size) {
      if (most < 0) {
        cnf.clause({});
      } else if (most == 1) {
        at_most_one(cnf, literals);
      } else {
        const auto wanted = static_cast<std::size_t>(most);
        cnf.clause({-count(cnf, literals, Counts::from_below, wanted + 1)[wanted]});
      }
    }
    if (row.least != -Program::kUnbounded && least > 0) {
      if (least > size) {
        cnf.clause({});
      } else if (least == 1) {
        cnf.clause(literals);
      } else {
        const auto wanted = static_cast<std::size_t>(least);
        cnf.clause({count(cnf, literals, Counts::from_above, wanted)[wanted - 1]});
      }
    }
  }
  return cnf;
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
