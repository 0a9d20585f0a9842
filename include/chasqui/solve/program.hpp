// SPDX-License-Identifier: MIT
// A 0-1 program as plain data: minimise a sum of binary columns subject to rows. Builders write it, CBC solves it.
#pragma once

#include <utility>
#include <vector>

#include "chasqui/solve/cnf.hpp"

namespace chasqui::solve {
/// Linear constraints on 0-1 variables, and what to minimise.
struct Program {
  /// A multiple of a variable.
  struct Term {
    int column = 0;
    int coefficient = 1;
  };
  /// Least <= sum of the terms <= most.
  struct Row {
    std::vector<Term> terms;
    int least = 0;
    int most = 0;
  };
  static constexpr int kUnbounded = 1'000'000'000;  ///< as least (negated) or most: no bound on this side
  /// A variable.
  struct Column {
    int objective = 0;  ///< what it adds to the sum to be minimised, if 1
    int most = 1;       ///< 0: fixed at zero
  };

  int add_column(int objective = 0);  ///< a new variable; its number
  void fix_to_zero(int column);       ///< no solution may use it
  /// Sum of the terms >= least.
  void at_least(std::vector<Term> terms, int least) { rows.push_back({std::move(terms), least, kUnbounded}); }
  /// Sum of the terms <= most.
  void at_most(std::vector<Term> terms, int most) { rows.push_back({std::move(terms), -kUnbounded, most}); }
  /// Sum of the terms = value.
  void equal(std::vector<Term> terms, int value) { rows.push_back({std::move(terms), value, value}); }

  std::vector<Column> columns;  ///< Term::column counts these
  std::vector<Row> rows;
};

/// A value for each column.
using Point = std::vector<bool>;

/// Does the point satisfy all rows?
bool feasible(const Program& program, const Point& point);

/// The clauses as rows; variable v is column v - 1.
Program program_from(const Cnf& cnf);

}  // namespace chasqui::solve
