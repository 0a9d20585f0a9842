// SPDX-License-Identifier: MIT
// All-to-all and reduce-scatter, exactly.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/plain_trees.hpp"
#include "chasqui/solve/certificate.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

Instance instance(Kind kind, std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g, std::int64_t k = 1) {
  return {.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.kind = kind, .items = k}};
}

Time optimum(const Instance& asked, Engine engine = Engine::sat, bool warm = true) {
  Options options;
  options.engine = engine;
  options.warm_start = warm;
  const Answer answer = solve(asked, options);
  EXPECT_EQ(answer.status, Status::optimal) << to_string(asked);
  EXPECT_TRUE(answer.best && verify(*answer.best).legal()) << to_string(asked);
  EXPECT_EQ(answer.best->problem, asked.problem);
  return answer.best->finish;
}

/// By hand: with L = 1 and o = 2 a rank that sent at 0 is busy receiving during [3, 5), so its second send begins at 5.
TEST(SolveBlocks, TwoRanks) {
  EXPECT_EQ(optimum(instance(Kind::alltoall, 2, 3, 0, 1)), Time{3});
  EXPECT_EQ(optimum(instance(Kind::alltoall, 2, 1, 2, 1, 2)), Time{10});
  EXPECT_EQ(optimum(instance(Kind::reduce_scatter, 2, 1, 2, 1)), Time{5});
}

TEST(SolveBlocks, NoAllToAllIsFasterThanTheAllGather) {
  int later = 0;
  for (std::int64_t P = 2; P <= 4; ++P) {
    for (std::int64_t L = 1; L <= 3; ++L) {
      for (std::int64_t g = 1; g <= 2; ++g) {
        for (std::int64_t o = 0; o <= g; ++o) {
          const Time exchange = optimum(instance(Kind::alltoall, P, L, o, g));
          const Time gathered = optimum(instance(Kind::allgather, P, L, o, g));
          EXPECT_GE(exchange, gathered) << "P=" << P << " L=" << L << " o=" << o << " g=" << g;
          EXPECT_LE(exchange, plan::alltoall({P, Time{L}, Time{o}, Time{g}})->claim().finish);
          EXPECT_EQ(optimum(instance(Kind::reduce_scatter, P, L, o, g)), gathered);
          later += exchange > gathered ? 1 : 0;
        }
      }
    }
  }
  RecordProperty("later", later);
}

TEST(SolveBlocks, BothEnginesAgree) {
  for (const Instance& asked : {instance(Kind::alltoall, 3, 1, 1, 2), instance(Kind::alltoall, 3, 2, 0, 1),
                                instance(Kind::alltoall, 3, 1, 1, 1), instance(Kind::reduce_scatter, 3, 1, 1, 2)}) {
    EXPECT_EQ(optimum(asked, Engine::both, false), optimum(asked));
  }
}

/// Legal schedules, straight or passed on, satisfy the formula; moved ones that break a rule do not.
TEST(SolveBlocks, TheFormulaLosesNoSchedule) {
  const LogP machine{4, Time{2}, Time{1}, Time{2}};
  const Instance asked = instance(Kind::alltoall, 4, 2, 1, 2);
  std::mt19937 random(5);
  for (const plan::PlainTree tree : plan::kPlainTrees) {
    const Schedule good = canonical(asked, std::get<Schedule>(plan::plain_schedule(tree, machine, asked.problem)));
    ASSERT_TRUE(verify(good).legal());
    const auto encoding = encode(asked, good.finish);
    SatSolver solver(encoding->cnf());
    EXPECT_EQ(solver.decide(encoding->describe(good), 0, {}), Verdict::satisfiable) << to_string(tree);
    int broken = 0;
    for (int n = 0; n < 40; ++n) {
      Schedule moved = good;
      Send& send = moved.sends[random() % moved.sends.size()];
      send.begin = Time{static_cast<std::int64_t>(random() % 10)};
      moved.finish = actual_finish(moved);
      if (moved.finish > good.finish || verify(moved).legal()) continue;
      ++broken;
      EXPECT_EQ(solver.decide(encoding->describe(moved), 0, {}), Verdict::unsatisfiable);
    }
    EXPECT_GT(broken, 10);
  }
}

TEST(SolveBlocks, CertificatesAreChecked) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "chasqui_blocks_certificate";
  for (const Instance& asked : {instance(Kind::alltoall, 4, 2, 2, 2), instance(Kind::reduce_scatter, 4, 2, 2, 2)}) {
    const Answer answer = solve(asked, {});
    ASSERT_EQ(answer.status, Status::optimal);
    ASSERT_TRUE(write_certificate(folder, asked, answer));
    const CertificateReport report = check_certificate(folder);
    EXPECT_TRUE(report.accepted) << report.reason;
    EXPECT_EQ(report.instance, asked);
  }
  std::filesystem::remove_all(folder);
}

TEST(SolveBlocks, RefusesWhatItCannotDo) {
  Instance ordered = instance(Kind::reduce_scatter, 4, 2, 1, 1);
  ordered.problem.commutative = false;
  EXPECT_THROW(validate(ordered), Error);
  EXPECT_THROW(validate(instance(Kind::alltoall, 65, 2, 1, 1)), Error);
  EXPECT_THROW(validate(instance(Kind::barrier, 4, 2, 1, 1)), Error);
}

}  // namespace
}  // namespace chasqui::solve
