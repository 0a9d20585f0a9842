// SPDX-License-Identifier: MIT
// The proof checker: proofs it must accept, and changes to them it must not.
#include "chasqui/solve/drat.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "chasqui/solve/cnf.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

const std::string kFormula = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";

TEST(Drat, AcceptsAProofByHand) {
  const ProofReport report = check_drat(kFormula, "2 0\n0\n");
  EXPECT_TRUE(report.accepted) << report.reason;
  EXPECT_EQ(report.clauses, 4);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(report.checked, 2);
}

TEST(Drat, DoesNotCheckWhatIsNotNeeded) {
  const ProofReport report = check_drat(kFormula, "5 6 0\n2 0\n0\n");  // 5 6: no unit propagation proves it
  EXPECT_TRUE(report.accepted) << report.reason;
  EXPECT_EQ(report.checked, 2);
}

TEST(Drat, EmptyClauseMustFollow) {
  EXPECT_FALSE(check_drat(kFormula, "0\n").accepted);  // no unit to begin with
  EXPECT_EQ(check_drat("p cnf 2 1\n1 2 0\n", "0\n").reason,
            "the empty clause does not follow from the clauses before it");
  EXPECT_NE(check_drat("p cnf 2 1\n1 2 0\n", "1 0\n-1 0\n0\n").reason.find("does not follow"), std::string::npos);
}

TEST(Drat, DeletedClausesAreGone) {
  EXPECT_FALSE(check_drat(kFormula, "d -2 -1 0\n2 0\n0\n").accepted);
  EXPECT_TRUE(check_drat(kFormula, "2 0\nd 1 2 0\nd 2 -1 0\n0\n").accepted);
  EXPECT_EQ(check_drat(kFormula, "d 1 0 \n2 0\n0\n").accepted,
            true);  // a unit that is not there: units are never deleted
  EXPECT_NE(check_drat(kFormula, "d 1 2 3 0\n2 0\n0\n").reason.find("line 1 deletes a clause that is not there"),
            std::string::npos);
}

TEST(Drat, RatNeedsAllResolvents) {
  // All eight clauses on 1, 2, 3. The proof defines 4 as "not 1": neither clause follows, both are RAT on their first literal.
  const std::string cube = "1 2 3 0\n1 2 -3 0\n1 -2 3 0\n1 -2 -3 0\n-1 2 3 0\n-1 2 -3 0\n-1 -2 3 0\n-1 -2 -3 0\n";
  const std::string rest = "-4 2 0\nd 1 2 3 0\n2 0\n1 0\n0\n";
  const ProofReport report = check_drat("p cnf 3 8\n" + cube, "4 1 0\n-4 -1 0\n" + rest);
  EXPECT_TRUE(report.accepted) << report.reason;
  EXPECT_EQ(report.checked, 6);                                                 // all additions are needed
  EXPECT_FALSE(check_drat("p cnf 3 8\n" + cube, "-4 -1 0\n" + rest).accepted);  // without the other half
  // Where 4 is taken, its definition is an assumption: the resolvent of "4 1" with "-4 5" does not follow.
  EXPECT_FALSE(check_drat("p cnf 5 9\n-4 5 0\n" + cube, "4 1 0\n-4 -1 0\n" + rest).accepted);
  // On its second literal the clause is not RAT.
  EXPECT_FALSE(check_drat("p cnf 5 9\n-1 5 0\n" + cube, "1 4 0\n-4 -1 0\n" + rest).accepted);
}

TEST(Drat, SaysWhatIsWrongWithTheText) {
  EXPECT_NE(check_drat("p dnf 1 1\n1 0\n", "0\n").reason.find("p cnf"), std::string::npos);
  EXPECT_NE(check_drat("p cnf 1 2\n1 0\n", "0\n").reason.find("not a clause"), std::string::npos);
  EXPECT_NE(check_drat("p cnf 1 1\n1 0\n-1 0\n", "0\n").reason.find("more than the 1 clauses"), std::string::npos);
  EXPECT_NE(check_drat("p cnf 1 1\n2 0\n", "0\n").reason.find("variable 2 of only 1"), std::string::npos);
  EXPECT_NE(check_drat(kFormula, "2 0\n").reason.find("does not derive the empty clause"), std::string::npos);
  EXPECT_NE(check_drat(kFormula, "2 x 0\n0\n").reason.find("line 1 is not a step"), std::string::npos);
  EXPECT_NE(check_drat(kFormula, "2").reason.find("not a step"), std::string::npos);
}

std::string solver_proof(const Cnf& cnf, Verdict& verdict) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "chasqui_drat_test.drat";
  verdict = refute(cnf, path, 0, {});
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

Cnf random_formula(std::mt19937& random, int variables, int clauses) {
  Cnf cnf;
  for (int v = 0; v < variables; ++v) cnf.fresh();
  for (int c = 0; c < clauses; ++c) {
    std::vector<Literal> clause;
    for (int l = 0; l < 3; ++l) {
      const int x = 1 + static_cast<int>(random() % static_cast<unsigned>(variables));
      clause.push_back(random() % 2 == 0 ? x : -x);
    }
    cnf.clause(clause);
  }
  return cnf;
}

TEST(Drat, AcceptsTheSolversProofsAndNoProofOfASatisfiableFormula) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  const unsigned seed = 11;
  std::mt19937 random(seed);
  int refuted = 0;
  for (int round = 0; round < 150; ++round) {
    const Cnf cnf = random_formula(random, 30, 100 + static_cast<int>(random() % 60));
    Verdict verdict = Verdict::unknown;
    const std::string proof = solver_proof(cnf, verdict);
    if (verdict == Verdict::unsatisfiable) {
      ++refuted;
      const ProofReport report = check_drat(to_dimacs(cnf), proof);
      ASSERT_TRUE(report.accepted) << "seed " << seed << " round " << round << ": " << report.reason;
    } else {
      // A proof of another formula must not be accepted for this one.
      Verdict other = Verdict::unknown;
      const std::string foreign = solver_proof(random_formula(random, 30, 200), other);
      if (other != Verdict::unsatisfiable) continue;
      ASSERT_FALSE(check_drat(to_dimacs(cnf), foreign).accepted) << "seed " << seed << " round " << round;
    }
  }
  EXPECT_GT(refuted, 20);
}

TEST(Drat, NothingProvesASatisfiableFormula) {
  // Random steps, among them the empty clause: whatever is accepted must belong to an unsatisfiable formula.
  const unsigned seed = 5;
  std::mt19937 random(seed);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    const Cnf cnf = random_formula(random, 4, 8 + static_cast<int>(random() % 24));
    bool satisfiable = false;
    for (unsigned values = 0; values < 16 && !satisfiable; ++values) {
      bool all = true, clause = false;
      for (const Literal literal : cnf.literals()) {
        if (literal == 0) all = all && std::exchange(clause, false);
        else clause = clause || ((values >> (std::abs(literal) - 1) & 1U) != 0) == (literal > 0);
      }
      satisfiable = all;
    }
    std::string proof;
    for (int step = 0; step < 6; ++step) {
      for (int l = 1 + static_cast<int>(random() % 2); l > 0; --l) {
        proof += std::to_string((random() % 2 == 0 ? 1 : -1) * (1 + static_cast<int>(random() % 5))) + " ";
      }
      proof += "0\n";
    }
    const ProofReport report = check_drat(to_dimacs(cnf), proof + "0\n");
    accepted += report.accepted ? 1 : 0;
    ASSERT_FALSE(report.accepted && satisfiable) << "seed " << seed << " round " << round << "\n"
                                                 << to_dimacs(cnf) << proof;
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace chasqui::solve
