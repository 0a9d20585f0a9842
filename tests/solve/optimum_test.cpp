// SPDX-License-Identifier: MIT
// Optima known from elsewhere, without help from the plans; every schedule is verified inside solve().
#include <gtest/gtest.h>

#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/sat.hpp"
#include "sweep.hpp"

namespace chasqui::solve {
namespace {

class Optimum : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  }
};

std::int64_t least_finish(const Instance& instance) {
  Options options;
  options.warm_start = false;
  options.time_limit = 250;
  const Answer answer = solve(instance, options);
  EXPECT_EQ(answer.status, Status::optimal) << to_string(instance);
  if (answer.status != Status::optimal) return -1;
  EXPECT_EQ(objective(*answer.best), answer.bound);
  EXPECT_TRUE(verify(*answer.best).legal());
  return answer.bound.ticks;
}

std::int64_t postal(std::int64_t P, std::int64_t L, std::int64_t k, bool single = false) {
  return least_finish({.machine = LogP::postal(P, Time{L}), .problem = {.items = k}, .single_sending = single});
}

std::int64_t strict(Kind kind, std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g) {
  return least_finish({.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.kind = kind}});
}

TEST_F(Optimum, ItemsFromOneSource) {
  EXPECT_EQ(postal(6, 3, 1), 6);
  EXPECT_EQ(postal(3, 5, 2), 8);
  EXPECT_EQ(postal(8, 5, 2), 12);
  EXPECT_EQ(postal(10, 4, 2), 11);
  EXPECT_EQ(postal(10, 5, 2), 13);
}

TEST_F(Optimum, MeetsTheCountingBound) {
  for (std::int64_t P = 2; P <= 7; ++P) {
    for (std::int64_t L = 1; L <= 4; ++L) {
      for (std::int64_t k = 1; k <= 4; ++k) {
        EXPECT_EQ(postal(P, L, k), plan::kitem_bound(LogP::postal(P, Time{L}), k).ticks) << P << " " << L << " " << k;
        EXPECT_EQ(postal(P, L, k, true), plan::kitem_single_sending_bound(LogP::postal(P, Time{L}), k).ticks)
            << P << " " << L << " " << k;
      }
    }
  }
}

/// Asks the formula alone: solve() begins at the bound and would not see what lies below it.
bool exists(const Instance& instance, Time finish) {
  if (finish < Time{0}) return false;
  const auto encoding = encode(instance, finish);
  SatSolver solver(encoding->cnf());
  const Verdict verdict = solver.decide(encoding->finish_by(finish), 0, {});
  EXPECT_NE(verdict, Verdict::unknown);
  return verdict == Verdict::satisfiable;
}

TEST_F(Optimum, NoScheduleIsBelowThePlansBound) {
  int met = 0, open = 0;
  const auto compare = [&](const Instance& instance) {
    const Time bound = lower_bound(instance).time;
    EXPECT_FALSE(exists(instance, bound - Time{1})) << to_string(instance);
    ++(exists(instance, bound) ? met : open);
  };
  for (std::int64_t P = 2; P <= 4; ++P) {
    for (std::int64_t L = 0; L <= 2; ++L) {
      for (std::int64_t o = 0; o <= 2; ++o) {
        for (std::int64_t g = 1; g <= 2; ++g) {
          const LogP machine{P, Time{L}, Time{o}, Time{g}};
          if (L + o == 0) continue;
          for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::scan, Kind::allgather})
            compare({.machine = machine, .problem = {.kind = kind}});
          compare({.machine = machine, .problem = {.items = 2}});
          compare({.machine = machine, .problem = {.items = 2}, .single_sending = true});
        }
      }
    }
  }
  EXPECT_GT(met, 250);
  EXPECT_LT(open, 120) << "weaker than they were";
}

TEST_F(Optimum, AllReduceWhereNothingReceivedIsPassedOn) {
  const Instance instance{.machine = {4, Time{1}, Time{1}, Time{1}}, .problem = {.kind = Kind::allreduce}};
  EXPECT_EQ(lower_bound(instance).time, Time{6});
  EXPECT_FALSE(exists(instance, Time{5}));
  EXPECT_TRUE(exists(instance, Time{6}));
}

TEST_F(Optimum, AllGather) {
  EXPECT_EQ(strict(Kind::allgather, 3, 1, 1, 2), 6);
  EXPECT_EQ(strict(Kind::allgather, 4, 6, 2, 4), 20);
  EXPECT_EQ(strict(Kind::allgather, 5, 2, 1, 1), 10);
  EXPECT_EQ(strict(Kind::allgather, 4, 2, 2, 2), 14);
  EXPECT_EQ(strict(Kind::allgather, 6, 1, 1, 2), 12);
  EXPECT_EQ(strict(Kind::allgather, 4, 2, 1, 3), 11);
  EXPECT_EQ(strict(Kind::allgather, 5, 1, 1, 2), 11);
  EXPECT_EQ(strict(Kind::allgather, 5, 3, 2, 4), 22);
}

TEST_F(Optimum, FoldsOnTheStrictMachine) {
  if (kWholeSweeps) {
    EXPECT_EQ(strict(Kind::allreduce, 5, 1, 2, 2), 13);  // the same in rank order below, every day
  }
  for (std::int64_t P = 2; P <= 5; ++P) {
    const LogP machine{P, Time{2}, Time{1}, Time{2}};
    const Instance reduce{.machine = machine, .problem = {.kind = Kind::reduce, .root = Rank{1}}};
    EXPECT_EQ(least_finish(reduce), lower_bound(reduce).time.ticks);
    EXPECT_GE(strict(Kind::scan, P, 2, 1, 2), lower_bound(reduce).time.ticks);
  }
}

TEST_F(Optimum, FoldsInRankOrder) {
  const auto folded = [](Kind kind, const LogP& machine, std::int32_t root, bool two_values) {
    return least_finish({.machine = machine,
                         .problem = {.kind = kind, .root = Rank{root}, .commutative = false},
                         .two_values = two_values});
  };
  // One value a message keeps the order at a price: P = 5, L = 2 takes a step more than with two, or than in any order.
  const LogP five = LogP::postal(5, Time{2});
  EXPECT_EQ(folded(Kind::allreduce, five, 0, false), 5);
  EXPECT_EQ(folded(Kind::allreduce, five, 0, true), 4);
  EXPECT_EQ(least_finish({.machine = five, .problem = {.kind = Kind::allreduce}}), 4);
  EXPECT_EQ(folded(Kind::allreduce, {5, Time{1}, Time{2}, Time{2}}, 0, false), 13);
  EXPECT_EQ(folded(Kind::reduce, five, 0, false), 4);
  EXPECT_EQ(folded(Kind::reduce, five, 2, true), 4);
}

TEST_F(Optimum, FoldsOnThePostalMachineMeetTheBound) {
  for (const Kind kind : {Kind::allreduce, Kind::scan}) {
    for (std::int64_t P = 1; P <= 6; ++P) {
      const Instance instance{.machine = LogP::postal(P, Time{2}), .problem = {.kind = kind}};
      EXPECT_EQ(least_finish(instance), lower_bound(instance).time.ticks) << to_string(instance);
    }
  }
  EXPECT_EQ(least_finish({.machine = LogP::postal(4, Time{2}), .problem = {.kind = Kind::scan, .exclusive = true}}), 4);
}

TEST_F(Optimum, StreamsWithAPrescribedPeriod) {
  const auto delay = [](std::int64_t P, std::int64_t L, std::int64_t period) {
    return least_finish(
        {.machine = LogP::postal(P, Time{L}), .problem = {.kind = Kind::stream}, .period = Time{period}});
  };
  EXPECT_EQ(delay(6, 2, 4), 6);  // n = 5 and n = 8 have no block-cyclic schedule
  EXPECT_EQ(delay(9, 2, 5), 7);
  EXPECT_EQ(delay(2, 3, 1), 3);
  EXPECT_EQ(delay(1, 3, 1), 0);
}

}  // namespace
}  // namespace chasqui::solve
