// SPDX-License-Identifier: MIT
// What is wrong with the integer programs as printed. errata.md, Errata 15 to 19.
#include "solve/paper_program.hpp"

#include <gtest/gtest.h>

#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/solve/integer_program.hpp"
#include "chasqui/solve/solve.hpp"
#include "solve/milp.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

Verdict decide(const Program& program, Point* point = nullptr) {
  SatSolver solver(formula(program));
  const Verdict verdict = solver.decide({}, 0, {});
  if (verdict == Verdict::satisfiable && point != nullptr) {
    for (int c = 0; c < static_cast<int>(program.columns.size()); ++c) point->push_back(solver.value(c + 1));
    EXPECT_TRUE(feasible(program, *point));
  }
  return verdict;
}

TEST(PaperProgram, ReceptionsInTheFirstStepsNeedNoSender) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  // Theorem 4.1: feasible within T_max steps exactly if there is a schedule. Three steps, latency three: nothing can arrive, and yet.
  const PaperProgram literal = literal_program(4, 3, 2, 3);
  Point point;
  EXPECT_EQ(decide(literal.program, &point), Verdict::satisfiable);
  EXPECT_FALSE(literal.decode(point));
  // The corrected program and the formula know better.
  const Instance instance{.machine = LogP::postal(4, Time{3}), .problem = {.items = 2}};
  for (const std::int64_t finish : {3, 4, 6}) {
    EXPECT_EQ(decide(integer_program(instance, Time{3}, Time{finish})->program()), Verdict::unsatisfiable);
  }
  EXPECT_EQ(decide(integer_program(instance, Time{3}, Time{7})->program()), Verdict::satisfiable);
  EXPECT_EQ(plan::kitem_bound(instance.machine, 2), Time{7});
}

TEST(PaperProgram, ThePrintedBoundHidesFasterSchedules) {
  if (!sat_available() || !milp_available()) GTEST_SKIP() << "an engine is missing";
  // (P, L, k) -> optimum. The program enables sends up to the printed bound for free, so it cannot see anything below it.
  for (const auto& [P, L, k, optimum] : {std::tuple{6, 3, 1, 6}, {3, 5, 2, 8}, {8, 5, 2, 12}, {10, 4, 2, 11}}) {
    const Instance instance{.machine = LogP::postal(P, Time{L}), .problem = {.items = k}};
    Options cold;
    cold.warm_start = false;
    EXPECT_EQ(solve(instance, cold).best->finish, Time{optimum});
    EXPECT_GT(printed_lower_bound(P, L, k) - 1, optimum) << "steps are counted from 1";
  }
  const PaperProgram literal = literal_program(6, 3, 1, printed_upper_bound(6, 3, 1));
  const MilpResult result = minimise(literal.program, 60, {});
  ASSERT_TRUE(result.optimal);
  EXPECT_EQ(result.objective_bound, 0);  // "optimal at the printed bound", one step later than the truth
}

TEST(PaperProgram, TheCorrectedProgramAgreesWithTheFormula) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  for (const auto& [P, L, o, g, k] :
       {std::tuple{4, 2, 0, 1, 2}, {5, 3, 0, 1, 2}, {3, 1, 1, 1, 2}, {4, 1, 1, 2, 2}, {3, 2, 2, 1, 3}}) {
    const Instance instance{.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.items = k}};
    const Time bound = plan::kitem_bound(instance.machine, k);
    for (Time finish = bound - Time{2}; finish <= bound + Time{3}; finish += Time{1}) {
      SatSolver solver(encode(instance, finish)->cnf());
      EXPECT_EQ(decide(integer_program(instance, bound, finish)->program()), solver.decide({}, 0, {}))
          << to_string(instance) << " by " << finish.ticks;
    }
  }
}

TEST(PaperProgram, ReducedProgramIsNecessaryButNotSufficient) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  // L = 2, P = 22: feasible, although no continuous broadcast has delay 2 + B(21) = 9.
  EXPECT_EQ(decide(reduced_program(22, 2).program), Verdict::satisfiable);
  EXPECT_EQ(plan::stream_bound(LogP::postal(22, Time{2})), Time{10});
  // Where the sound formulation finds a schedule, the reduced program is feasible, too.
  for (const auto& [P, L, period] : {std::tuple{6, 2, 4}, {9, 2, 5}, {4, 2, 2}, {5, 3, 2}, {6, 3, 3}}) {
    const Instance instance{
        .machine = LogP::postal(P, Time{L}), .problem = {.kind = Kind::stream}, .period = Time{period}};
    const Answer answer = solve(instance);
    if (objective(*answer.best) == plan::stream_bound(instance.machine)) {
      EXPECT_EQ(decide(reduced_program(P, L).program), Verdict::satisfiable) << to_string(instance);
    }
  }
}

TEST(PaperProgram, AFeasibleReducedProgramMayHaveNoPeriod) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  // L = 2, P = 6: feasible, but a schedule that repeats every step or every other step does not reach the bound.
  EXPECT_EQ(decide(reduced_program(6, 2).program), Verdict::satisfiable);
  for (const std::int64_t period : {1, 2}) {
    Options options;
    options.at_most = plan::stream_bound(LogP::postal(6, Time{2}));
    const Instance instance{
        .machine = LogP::postal(6, Time{2}), .problem = {.kind = Kind::stream}, .period = Time{period}};
    EXPECT_EQ(solve(instance, options).status, Status::infeasible) << period;
  }
}

}  // namespace
}  // namespace chasqui::solve
