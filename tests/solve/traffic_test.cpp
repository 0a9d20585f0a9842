// SPDX-License-Identifier: MIT
// Counting the traffic of all-gathers, against the formula, against the verifier's rules and against legal schedules.
#include "solve/traffic.hpp"

#include <gtest/gtest.h>

#include <map>

#include "chasqui/solve/atlas.hpp"
#include "chasqui/solve/bounds.hpp"
#include "chasqui/solve/solve.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {
namespace {

Instance allgather(std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g, std::int64_t items = 1) {
  return {.machine = {P, Time{L}, Time{o}, Time{g}}, .problem = {.kind = Kind::allgather, .items = items}};
}

/// The least finish time that the ports allow.
Time least(const Instance& instance) {
  Time T{0};
  while (count_traffic(instance, T).verdict() == Verdict::unsatisfiable) T += Time{1};
  return T;
}

TEST(Traffic, AloneDecidesTheSmallAllGathers) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  Options formula;
  formula.traffic = false;
  formula.warm_start = false;
  for (std::int64_t P = 2; P <= 4; ++P) {
    for (std::int64_t g = 1; g <= 3; ++g) {
      for (std::int64_t o = 1; o <= 3; ++o) {
        for (std::int64_t L = 1; L <= 3; ++L) {
          const Instance instance = allgather(P, L, o, g);
          EXPECT_EQ(least(instance), solve(instance, formula).bound) << to_string(instance);
        }
      }
    }
  }
  for (const Instance& instance : {allgather(3, 2, 1, 1, 2), allgather(3, 1, 1, 2, 2), allgather(2, 1, 2, 3, 3)}) {
    EXPECT_EQ(least(instance), solve(instance, formula).bound) << to_string(instance);
  }
}

TEST(Traffic, EveryScheduleHasOne) {
  for (const AtlasEntry* entry : Atlas::shipped().entries()) {
    if (!has_traffic(entry->instance) || entry->instance.machine.P > 5 ||
        entry->finish.ticks > 100 / entry->instance.machine.P)
      continue;
    EXPECT_EQ(count_traffic(entry->instance, entry->finish).verdict(), Verdict::satisfiable)
        << to_string(entry->instance);
    EXPECT_EQ(count_traffic(entry->instance, entry->finish + Time{1}).verdict(), Verdict::satisfiable)
        << to_string(entry->instance);
  }
}

TEST(Traffic, SamplesUseThePortsLegally) {
  std::mt19937_64 random(11);
  for (const Instance& instance :
       {allgather(5, 2, 1, 1), allgather(4, 1, 2, 3), allgather(6, 3, 2, 2), allgather(3, 2, 2, 2, 2)}) {
    const LogP& m = instance.machine;
    const TrafficCount count = count_traffic(instance, least(instance));
    for (int n = 0; n < 20; ++n) {
      const Traffic traffic = count.sample(random);
      std::map<Time, std::int64_t> balance;
      for (std::size_t p = 0; p < traffic.sends.size(); ++p) {
        EXPECT_EQ(static_cast<std::int64_t>(traffic.receives[p].size()), item_count(instance) - instance.problem.items);
        for (const Time t : traffic.sends[p]) ++balance[t];
        for (const Time t : traffic.receives[p]) --balance[t];
        for (const auto* port : {&traffic.sends[p], &traffic.receives[p]}) {
          for (std::size_t i = 1; i < port->size(); ++i) EXPECT_GE((*port)[i] - (*port)[i - 1], m.gap());
        }
        for (const Time sent : traffic.sends[p]) {
          for (const Time begun : traffic.receives[p]) {
            const Time received = begun + m.o + m.L;
            EXPECT_TRUE(received - sent >= m.o || sent - received >= m.o) << to_string(instance);
          }
        }
      }
      for (const auto& [t, excess] : balance) EXPECT_EQ(excess, 0) << to_string(instance) << " at " << t.ticks;
    }
  }
}

TEST(Traffic, ItemsAreFoundForIt) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  const Instance instance = allgather(6, 2, 3, 3);
  const Answer answer = solve(instance);
  ASSERT_EQ(answer.status, Status::optimal);
  EXPECT_EQ(answer.bound, Time{32});
  EXPECT_EQ(answer.evidence, Evidence::traffic);
  EXPECT_TRUE(verify(*answer.best).legal());
}

TEST(Traffic, TooMuchIsUnknown) {
  const Instance instance = allgather(5, 2, 2, 3);
  const std::int64_t receptions = 4;
  EXPECT_EQ(TrafficCount(instance.machine, receptions, Time{21}, 1'000'000).verdict(), Verdict::unsatisfiable);
  EXPECT_EQ(TrafficCount(instance.machine, receptions, Time{21}, 10).verdict(), Verdict::unknown);
  EXPECT_EQ(count_traffic(allgather(40, 2, 2, 3), Time{400}).verdict(), Verdict::unknown);
  EXPECT_EQ(count_traffic(allgather(3, 90'000, 1, 1), Time{400}).verdict(), Verdict::unknown);
  EXPECT_EQ(count_traffic(allgather(5, 2, 2, 3), Time{0}).verdict(), Verdict::unsatisfiable);
}

}  // namespace
}  // namespace chasqui::solve
