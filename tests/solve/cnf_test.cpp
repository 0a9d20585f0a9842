// SPDX-License-Identifier: MIT
#include "chasqui/solve/cnf.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

/// Is there an assignment that agrees with `inputs` on the first `fixed` variables? Brute force over the others.
bool satisfiable_with(const Cnf& cnf, unsigned inputs, int fixed) {
  const int free = cnf.variables() - fixed;
  for (unsigned rest = 0; rest < (1U << free); ++rest) {
    const unsigned values = inputs | rest << fixed;
    bool all = true, clause = false;
    for (const Literal literal : cnf.literals()) {
      if (literal == 0) {
        all = all && clause;
        clause = false;
      } else {
        clause = clause || ((values >> (std::abs(literal) - 1) & 1U) != 0) == (literal > 0);
      }
    }
    if (all) return true;
  }
  return false;
}

std::vector<Literal> inputs(Cnf& cnf, int n) {
  std::vector<Literal> literals;
  for (int i = 0; i < n; ++i) literals.push_back(cnf.fresh());
  return literals;
}

TEST(Cnf, AtMostOneAllowsExactlyTheAssignmentsWithAtMostOne) {
  for (int n = 0; n <= 11; ++n) {
    Cnf cnf;
    at_most_one(cnf, inputs(cnf, n));
    for (unsigned values = 0; values < (1U << n); ++values) {
      EXPECT_EQ(satisfiable_with(cnf, values, n), std::popcount(values) <= 1) << n << " " << values;
    }
  }
}

TEST(Cnf, CountersBoundFromTheirSide) {
  for (int n = 1; n <= 5; ++n) {
    for (std::size_t most = 1; most <= static_cast<std::size_t>(n); ++most) {
      for (std::size_t k = 0; k < most; ++k) {
        Cnf below, above;
        const auto at_least = count(below, inputs(below, n), Counts::from_below, most);
        below.clause({-at_least.at(k)});  // fewer than k + 1
        const auto enough = count(above, inputs(above, n), Counts::from_above, most);
        above.clause({enough.at(k)});  // k + 1 at least
        for (unsigned values = 0; values < (1U << n); ++values) {
          const auto ones = static_cast<std::size_t>(std::popcount(values));
          EXPECT_EQ(satisfiable_with(below, values, n), ones <= k);
          EXPECT_EQ(satisfiable_with(above, values, n), ones >= k + 1);
        }
      }
    }
  }
}

TEST(Cnf, ANegativeLiteralHasTheOppositeValue) {
  if (!sat_available()) GTEST_SKIP() << "built without CaDiCaL";
  Cnf cnf;
  const Literal yes = cnf.fresh(), no = cnf.fresh();
  cnf.clause({yes});
  cnf.clause({-no});
  SatSolver solver(cnf);
  ASSERT_EQ(solver.decide({}, 0, {}), Verdict::satisfiable);
  EXPECT_TRUE(solver.value(yes) && solver.value(-no));
  EXPECT_FALSE(solver.value(-yes) || solver.value(no));
}

TEST(Cnf, DimacsCountsVariablesAndClauses) {
  Cnf cnf;
  const Literal a = cnf.fresh(), b = cnf.fresh();
  cnf.clause({a, -b});
  cnf.clause({b});
  const std::vector<std::string> comments{"two clauses"};
  EXPECT_EQ(to_dimacs(cnf, comments), "c two clauses\np cnf 2 2\n1 -2 0\n2 0\n");
}

TEST(CnfDeath, ALiteralMustExist) {
  Cnf cnf;
  EXPECT_DEATH(cnf.clause({1}), "literal=1 variables=0");
}

}  // namespace
}  // namespace chasqui::solve
