// SPDX-License-Identifier: MIT
// The formula loses nothing and invents nothing: legal schedules of any origin, renamed, satisfy it; what breaks a rule does not.
#include "chasqui/solve/encoding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

Verdict decide(const Instance& instance, const Schedule& schedule) {
  const auto encoding = encode(instance, std::max(objective(schedule), instance.machine.lambda()));
  SatSolver solver(encoding->cnf());
  return solver.decide(encoding->describe(schedule), 0, {});
}

/// A random legal schedule of items: whoever can send something useful does so with some probability.
Schedule random_schedule(const Instance& instance, std::mt19937& random) {
  const LogP& machine = instance.machine;
  const auto P = static_cast<std::int32_t>(machine.P);
  const auto items = static_cast<std::int32_t>(item_count(instance));
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = instance.problem;
  std::vector<std::vector<std::int64_t>> available_at(static_cast<std::size_t>(items),
                                                      std::vector<std::int64_t>(machine.P, 1'000'000));
  for (std::int32_t i = 0; i < items; ++i) available_at[i][owner(instance, i).index] = 0;
  std::int64_t missing = std::int64_t{items} * (P - 1);
  for (std::int64_t t = 0; missing > 0; ++t) {
    for (int attempt = 0; attempt < 3 * P; ++attempt) {
      const std::int32_t p = static_cast<std::int32_t>(random() % P), q = static_cast<std::int32_t>(random() % P);
      const std::int32_t i = static_cast<std::int32_t>(random() % items);
      if (p == q || available_at[i][p] > t || available_at[i][q] < 1'000'000) continue;
      schedule.sends.push_back(send_item(Time{t}, Rank{p}, Rank{q}, i));
      VerifyOptions ports;
      ports.rules = 0b0011'1100;
      if (!verify(schedule, ports).legal()) {
        schedule.sends.pop_back();
        continue;
      }
      available_at[i][q] = t + machine.lambda().ticks;
      schedule.finish = std::max(schedule.finish, Time{available_at[i][q]});
      --missing;
    }
  }
  normalise(schedule);
  EXPECT_TRUE(verify(schedule).legal()) << to_string(verify(schedule));
  return schedule;
}

TEST(Encoding, AcceptsEveryLegalScheduleOnceRenamed) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  const unsigned seed = 7;
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    Instance instance;
    const std::int64_t o = random() % 3, P = 2 + static_cast<std::int64_t>(random() % 4);
    instance.machine = {P, Time{1 + static_cast<std::int64_t>(random() % 4)}, Time{o},
                        Time{1 + static_cast<std::int64_t>(random() % 3)}};
    const bool gather = random() % 2 == 0;
    instance.problem.kind = gather ? Kind::allgather : Kind::broadcast;
    instance.problem.items = 1 + static_cast<std::int64_t>(random() % 3);
    if (!gather) instance.problem.root = Rank{static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(P))};
    const Schedule schedule = canonical(instance, random_schedule(instance, random));
    ASSERT_TRUE(verify(schedule).legal()) << "seed " << seed << ": " << to_string(instance);
    ASSERT_EQ(decide(instance, schedule), Verdict::satisfiable) << "seed " << seed << ": " << to_string(instance);
  }
}

/// A random legal schedule of folds: first anything that the sender can make, then the single contributions that are missing.
Schedule random_folds(const Instance& instance, std::mt19937& random) {
  const auto P = static_cast<std::int32_t>(instance.machine.P);
  const Problem& problem = instance.problem;
  Schedule schedule;
  schedule.machine = instance.machine;
  schedule.problem = problem;
  VerifyOptions all_but_the_promise;
  all_but_the_promise.rules = 0b0111'1110;
  std::int64_t t = 0;
  const auto legal_with = [&](std::int32_t p, std::int32_t q, Part part, Part second) {
    schedule.sends.push_back({Time{t}, Rank{p}, Rank{q}, part, second});
    schedule.finish = std::max(schedule.finish, Time{t} + instance.machine.lambda());
    const bool legal = verify(schedule, all_but_the_promise).legal();
    if (!legal) schedule.sends.pop_back();
    return legal;
  };
  const auto pick = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(n)); };
  for (; t < 12; ++t) {
    for (int attempt = 0; attempt < 8 * P; ++attempt) {
      const std::int32_t p = pick(P), q = pick(P);
      const bool two = instance.two_values && random() % 2 == 0;
      legal_with(p, q, {pick(P), 1 + pick(P)}, two ? Part{random() % 2 == 0 ? p : pick(P), 1} : Part{});
    }
  }
  const auto needs = [&](std::int32_t q, std::int32_t i) {
    if (i == q) return false;
    if (problem.kind == Kind::scan) return i < q;
    return problem.kind == Kind::allreduce || q == problem.root.index;
  };
  for (std::int32_t q = 0; q < P; ++q) {
    for (std::int32_t i = 0; i < P; ++i) {
      while (needs(q, i) && !legal_with(i, q, {i, 1}, {})) ++t;
    }
  }
  schedule.finish = Time{0};
  for (const Send& send : schedule.sends)
    schedule.finish = std::max(schedule.finish, send.begin + instance.machine.lambda());
  normalise(schedule);
  EXPECT_TRUE(verify(schedule).legal()) << to_string(verify(schedule));
  return schedule;
}

TEST(Encoding, AcceptsEveryLegalFolding) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  const unsigned seed = 5;
  std::mt19937 random(seed);
  int of_two = 0, wrapped = 0, composed = 0;
  for (int round = 0; round < 60; ++round) {
    Instance instance;
    const std::int64_t P = 2 + static_cast<std::int64_t>(random() % 4);
    instance.machine = {P, Time{1 + static_cast<std::int64_t>(random() % 3)},
                        Time{static_cast<std::int64_t>(random() % 2)}, Time{1}};
    instance.problem.kind = std::array{Kind::reduce, Kind::allreduce, Kind::scan}[random() % 3];
    instance.problem.commutative = random() % 2 == 0;
    instance.two_values = random() % 2 == 0;
    const Schedule schedule = canonical(instance, random_folds(instance, random));
    for (const Send& send : schedule.sends) {
      of_two += send.second.len > 0 ? 1 : 0;
      wrapped += send.part.lo + send.part.len > P ? 1 : 0;
      composed += send.part.len > 1 ? 1 : 0;
    }
    ASSERT_TRUE(verify(schedule).legal()) << "seed " << seed << ": " << to_string(instance);
    ASSERT_EQ(decide(instance, schedule), Verdict::satisfiable)
        << "seed " << seed << " round " << round << ": " << to_string(instance);
  }
  EXPECT_GT(of_two, 20);
  EXPECT_GT(wrapped, 20);
  EXPECT_GT(composed, 100);
}

TEST(Encoding, AcceptsPlansThatKeepTheOrder) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  for (const Kind kind : {Kind::reduce, Kind::allreduce}) {
    for (std::int64_t P = 1; P <= 6; ++P) {
      for (const auto& [L, o, g] : {std::tuple{3, 0, 1}, {1, 1, 2}, {2, 2, 1}}) {
        Instance instance{.machine = {P, Time{L}, Time{o}, Time{g}},
                          .problem = {.kind = kind, .commutative = false},
                          .two_values = true};
        if (kind == Kind::reduce) instance.problem.root = Rank{static_cast<std::int32_t>(P / 2)};
        const std::optional<Schedule> plan = best_plan(instance);
        ASSERT_TRUE(plan) << to_string(instance);
        EXPECT_EQ(decide(instance, canonical(instance, *plan)), Verdict::satisfiable) << to_string(instance);
      }
    }
  }
}

TEST(Encoding, AcceptsPlans) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  for (const Kind kind : {Kind::broadcast, Kind::allgather, Kind::reduce, Kind::allreduce, Kind::scan}) {
    for (std::int64_t P = 1; P <= 6; ++P) {
      for (const auto& [L, o, g] : {std::tuple{3, 0, 1}, {1, 1, 2}, {2, 2, 1}, {4, 1, 4}}) {
        Instance instance{.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.kind = kind}};
        const std::optional<Schedule> plan = best_plan(instance);
        ASSERT_TRUE(plan) << to_string(instance);
        EXPECT_EQ(decide(instance, canonical(instance, *plan)), Verdict::satisfiable) << to_string(instance);
      }
    }
  }
}

TEST(Encoding, RefusesAScheduleThatBreaksARule) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  const Instance instance{.machine = {4, Time{3}, Time{1}, Time{2}}, .problem = {.kind = Kind::allgather}};
  const Schedule plan = canonical(instance, *best_plan(instance));
  int refused = 0;
  for (std::size_t n = 0; n < plan.sends.size(); ++n) {
    for (const std::int64_t shift : {-2, -1, 1}) {
      Schedule moved = plan;
      moved.sends[n].begin += Time{shift};
      const Time last_begin = objective(plan) - instance.machine.lambda();
      if (moved.sends[n].begin < Time{0} || moved.sends[n].begin > last_begin) continue;
      VerifyOptions rules;  // not rule 7: the finish may move
      rules.rules = 0b0111'1110;
      moved.finish = objective(plan);
      if (verify(moved, rules).legal()) continue;
      EXPECT_EQ(decide(instance, moved), Verdict::unsatisfiable) << "message " << n << " by " << shift;
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

TEST(Encoding, IsDeterministic) {
  const Instance instance{.machine = {5, Time{2}, Time{1}, Time{2}}, .problem = {.items = 3}};
  EXPECT_EQ(encode(instance, Time{18})->cnf().literals(), encode(instance, Time{18})->cnf().literals());
}

TEST(Encoding, RefusesWhatWouldNotFitIntoMemory) {
  const Instance folds{.machine = LogP::postal(200, Time{50}), .problem = {.kind = Kind::allreduce}};
  EXPECT_THROW(encode(folds, Time{400}), Error);
  const Instance items{.machine = LogP::postal(200, Time{90'000}), .problem = {.items = 2}};
  EXPECT_THROW(encode(items, Time{300'000}), Error);
}

TEST(Encoding, TooShortAHorizonIsUnsatisfiable) {
  if (!sat_available()) GTEST_SKIP() << "no CaDiCaL";
  for (const Kind kind : {Kind::broadcast, Kind::scan}) {
    const Instance instance{.machine = LogP::postal(3, Time{4}), .problem = {.kind = kind}};
    SatSolver solver(encode(instance, Time{3})->cnf());
    EXPECT_EQ(solver.decide({}, 0, {}), Verdict::unsatisfiable);
  }
}

}  // namespace
}  // namespace chasqui::solve
