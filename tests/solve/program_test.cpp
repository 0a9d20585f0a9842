// SPDX-License-Identifier: MIT
#include "chasqui/solve/program.hpp"

#include <gtest/gtest.h>

#include "solve/milp.hpp"
#include "solve/paper_program.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

/// x0 + x1 + x2 = 2, x0 <= x1, minimise x1 + 3 x2: x = (1, 1, 0).
Program small() {
  Program program;
  const int a = program.add_column(0), b = program.add_column(1), c = program.add_column(3);
  program.equal({{a, 1}, {b, 1}, {c, 1}}, 2);
  program.at_most({{a, 1}, {b, -1}}, 0);
  return program;
}

TEST(Program, FeasibleMeansEveryRow) {
  EXPECT_TRUE(feasible(small(), {true, true, false}));
  EXPECT_FALSE(feasible(small(), {true, false, true}));
  EXPECT_FALSE(feasible(small(), {true, true, true}));
}

TEST(Program, CbcFindsTheOptimum) {
  if (!milp_available()) GTEST_SKIP() << "no CBC";
  const MilpResult result = minimise(small(), 10, {});
  EXPECT_EQ(result.verdict, Verdict::satisfiable);
  EXPECT_TRUE(result.optimal);
  EXPECT_EQ(result.point, (Point{true, true, false}));
  Program none = small();
  none.at_least({{1, 1}, {2, 1}}, 3);
  EXPECT_EQ(minimise(none, 10, {}).verdict, Verdict::unsatisfiable);
}

TEST(Program, TheFormulaHasTheSamePoints) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  Program program = small();
  const int d = program.add_column(), e = program.add_column();
  program.fix_to_zero(e);
  program.at_least({{0, 1}, {1, 1}, {2, 1}, {d, -1}, {e, -1}}, 2);
  program.at_most({{0, 1}, {1, 1}, {2, 1}, {d, 1}}, 2);
  SatSolver solver(formula(program));
  for (unsigned bits = 0; bits < 32; ++bits) {
    Point point;
    std::vector<Literal> assumed;
    for (int c = 0; c < 5; ++c) {
      point.push_back((bits >> c & 1U) != 0);
      assumed.push_back(point.back() ? c + 1 : -(c + 1));
    }
    EXPECT_EQ(solver.decide(assumed, 0, {}) == Verdict::satisfiable, feasible(program, point)) << bits;
  }
}

TEST(Program, ClausesAsRows) {
  Cnf cnf;
  const Literal a = cnf.fresh(), b = cnf.fresh();
  cnf.clause({a, -b});
  const Program program = program_from(cnf);
  EXPECT_TRUE(feasible(program, {false, false}));
  EXPECT_TRUE(feasible(program, {true, true}));
  EXPECT_FALSE(feasible(program, {false, true}));
}

}  // namespace
}  // namespace chasqui::solve
