// SPDX-License-Identifier: MIT
// All-to-all, reduce-scatter and all-reduce of several items: legal, optimal where there is no overhead, tied to the all-gather otherwise.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/exchange/turns.hpp"
#include "plan/same_as_local.hpp"

namespace chasqui {
namespace {

using Machines = std::vector<LogP>;

Machines strict_machines() {
  Machines all;
  for (const std::int64_t P : {1, 2, 5, 8, 21}) {
    for (const std::int64_t L : {0, 1, 12}) {
      for (const std::int64_t o : {0, 1, 2, 5}) {
        for (const std::int64_t g : {1, 2, 4, 9}) {
          if (L + o > 0) all.push_back({P, Time{L}, Time{o}, Time{g}});
        }
      }
    }
  }
  return all;
}

void expect_sound(const plan::Plan& plan) {
  const Schedule schedule = plan.schedule();
  const Report report = verify(schedule);
  ASSERT_TRUE(report.legal()) << to_string(plan.machine()) << ' ' << plan.claim().construction << '\n'
                              << to_string(report);
  ASSERT_GE(plan.claim().finish, plan.claim().bound) << to_string(plan.machine());
  ASSERT_TRUE(same_as_local(plan)) << to_string(plan.machine()) << ' ' << plan.claim().construction;
}

TEST(Alltoall, IsOptimalWithoutOverhead) {
  for (std::int64_t P = 2; P <= 12; ++P) {
    for (std::int64_t L = 1; L <= 6; ++L) {
      for (std::int64_t g = 1; g <= 4; ++g) {
        for (std::int64_t k = 1; k <= 3; ++k) {
          const auto plan = plan::alltoall({P, Time{L}, Time{0}, Time{g}}, k);
          EXPECT_EQ(plan->claim().finish, Time{L + (k * (P - 1) - 1) * g});
          EXPECT_TRUE(plan->claim().optimal());
          ASSERT_TRUE(verify(plan->schedule()).legal()) << to_string(plan->machine()) << " k=" << k;
        }
      }
    }
  }
}

TEST(Alltoall, IsLegalOnStrictMachines) {
  for (const LogP& m : strict_machines()) {
    for (const std::int64_t k : {1, 3}) {
      const auto plan = plan::alltoall(m, k);
      expect_sound(*plan);
      // A block from p to q stands for an item of p: no all-to-all is faster than the best all-gather.
      EXPECT_EQ(plan->claim().bound, plan::allgather_bound(m, k)) << to_string(m);
    }
  }
}

/// Also where common times are better.
TEST(Alltoall, TurnsAreLegal) {
  int made = 0;
  for (const LogP& m : strict_machines()) {
    if (m.o == Time{0} || m.P < 4) continue;
    for (const std::int64_t k : {1, 2}) {
      const auto turns = plan::best_turns(m, k, std::int64_t{1} << 40);
      if (!turns) continue;
      ++made;
      const plan::Claim claim{Time{turns->last_send} + m.lambda(), plan::alltoall_bound(m, k), "", "turns"};
      expect_sound(*plan::alltoall_in_turns(m, {.kind = Kind::alltoall, .items = k}, claim, *turns));
    }
  }
  EXPECT_GT(made, 100);
}

TEST(Alltoall, TurnsBeatCommonTimesOnManyRanks) {
  const LogP m{120, Time{7}, Time{4}, Time{8}};
  const auto plan = plan::alltoall(m);
  EXPECT_EQ(plan->claim().construction.substr(1, 17), " classes in turns");
  EXPECT_LT(plan->claim().finish.ticks * 10, 14 * plan->claim().bound.ticks);
  expect_sound(*plan);
}

/// Every block is sent once, straight from its owner to the rank that wants it.
TEST(Alltoall, SendsEveryBlockOnce) {
  const Schedule schedule = plan::alltoall({5, Time{3}, Time{1}, Time{2}}, 2)->schedule();
  std::vector<std::int32_t> seen;
  for (const Send& send : schedule.sends) {
    EXPECT_EQ(send.part.lo / 2, send.from.index * 5 + send.to.index);
    seen.push_back(send.part.lo);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 40U);
  EXPECT_EQ(schedule_from_json(to_json(schedule), "here"), schedule);
}

TEST(Alltoall, HugeMachinesAnswer) {
  constexpr std::int64_t kBillion = 1'000'000'000, kMillion = 1'000'000;
  const LogP machine{kBillion, Time{5000}, Time{0}, Time{40}};
  EXPECT_EQ(plan::alltoall(machine)->claim().finish, Time{5000 + (kBillion - 2) * 40});
  EXPECT_TRUE(plan::alltoall(machine)->claim().optimal());
  const LogP smaller{kMillion, Time{5000}, Time{20}, Time{40}};
  const LocalForm mine = plan::alltoall(smaller)->local(Rank{999'999});
  ASSERT_EQ(mine.sends.size(), static_cast<std::size_t>(kMillion - 1));
  EXPECT_EQ(mine.sends.front().item_number(), 999'999 * kMillion);
  EXPECT_EQ(mine.sends.front().to, Rank{0});
  EXPECT_EQ(mine.receives.back().item_number(), mine.receives.back().from.index * kMillion + 999'999);
  EXPECT_THROW(plan::alltoall(machine, 3), Error);
}

TEST(ReduceScatter, IsTheAllgatherBackwards) {
  for (const LogP& m : strict_machines()) {
    for (const std::int64_t k : {1, 3}) {
      const auto plan = plan::reduce_scatter(m, k);
      expect_sound(*plan);
      const plan::Claim claim = plan::allgather(m, k)->claim();
      EXPECT_EQ(plan->claim().finish, claim.finish) << to_string(m) << " k=" << k;
      EXPECT_EQ(plan->claim().bound, claim.bound) << to_string(m) << " k=" << k;
    }
  }
}

TEST(ReduceScatter, KeepsRankOrder) {
  for (const LogP& m : strict_machines()) {
    const auto plan = plan::reduce_scatter(m, 2, false);
    expect_sound(*plan);
    EXPECT_FALSE(plan->schedule().problem.commutative);
    if (m.o == Time{0}) {
      EXPECT_TRUE(plan->claim().optimal()) << to_string(m);
    }
  }
}

/// What takes part in the proof of Theorem 18: forwards again, a reduce-scatter is an all-gather.
TEST(ReduceScatter, ForwardsAgainIsAnAllgather) {
  for (const LogP& m : strict_machines()) {
    Schedule schedule = plan::reduce_scatter(m, 2)->schedule();
    for (Send& send : schedule.sends) {
      send.begin = schedule.finish - available(m, send);
      std::swap(send.from, send.to);
    }
    schedule.problem.kind = Kind::allgather;
    normalise(schedule);
    ASSERT_TRUE(verify(schedule).legal()) << to_string(m) << '\n' << to_string(verify(schedule));
  }
}

TEST(ReduceScatter, HugeMachinesAnswer) {
  const LogP machine{1'000'000'000, Time{5000}, Time{20}, Time{40}};
  EXPECT_EQ(plan::reduce_scatter(machine)->claim().finish, plan::allgather(machine)->claim().finish);
  const LogP smaller{100'000, Time{5000}, Time{20}, Time{40}};
  EXPECT_EQ(plan::reduce_scatter(smaller)->local(Rank{7}).sends.size(), 99'999U);
}

TEST(ExchangeKinds, OnRandomMachines) {
  EXPECT_TRUE(rc::check("alltoall, reduce-scatter", [] {
    const auto scale = *rc::gen::element<std::int64_t>(1, 1000, 1'000'000'007);
    LogP m;
    m.P = *rc::gen::inRange<std::int64_t>(1, 41);
    m.o = Time{*rc::gen::inRange<std::int64_t>(0, 8) * scale};
    m.L = Time{*rc::gen::inRange<std::int64_t>(m.o.ticks == 0 ? 1 : 0, 40) * scale};
    m.g = Time{*rc::gen::inRange<std::int64_t>(1, 16) * scale};
    const auto k = *rc::gen::inRange<std::int64_t>(1, 4);
    const plan::PlanPtr plans[] = {plan::alltoall(m, k), plan::reduce_scatter(m, k, *rc::gen::arbitrary<bool>())};
    for (const plan::PlanPtr& plan : plans) {
      RC_ASSERT(verify(plan->schedule()).legal());
      RC_ASSERT(plan->claim().finish >= plan->claim().bound);
      RC_ASSERT(same_as_local(*plan));
    }
  }));
}

TEST(Allreduce, AllreduceOfItemsIsLegal) {
  for (const LogP& m : strict_machines()) {
    for (const std::int64_t k : {std::int64_t{2}, std::int64_t{7}, m.P, 3 * m.P}) {
      for (const bool commutative : {true, false}) expect_sound(*plan::allreduce_items(m, k, commutative));
    }
  }
}

/// Without overhead, and as many items a rank: one message time above the bound, or none where the gap is longer.
TEST(Allreduce, AllreduceOfItemsMeetsItsBound) {
  for (std::int64_t P = 2; P <= 12; ++P) {
    for (std::int64_t L = 1; L <= 6; ++L) {
      for (std::int64_t g = 1; g <= 8; ++g) {
        for (std::int64_t k = 2; k <= 4; ++k) {
          const auto plan = plan::allreduce_items({P, Time{L}, Time{0}, Time{g}}, k * P);
          EXPECT_LE(plan->claim().gap(), Time{std::max(L, g) - g}) << P << ' ' << L << ' ' << g << ' ' << k;
        }
      }
    }
  }
}

/// The fewest messages that let everybody know everything, by trying all: 2(P-1), as the bound counts them.
TEST(Allreduce, EverybodyKnowsAfterNoFewerThanTwiceTheOthers) {
  for (unsigned P = 2; P <= 4; ++P) {
    const unsigned all = (1U << P) - 1;
    std::vector<unsigned> start;
    for (unsigned r = 0; r < P; ++r) start.push_back(1U << r);
    std::set<std::vector<unsigned>> states{start};
    unsigned messages = 0;
    const auto complete = [&](const auto& knows) {
      return std::ranges::all_of(knows, [&](unsigned k) { return k == all; });
    };
    for (; std::ranges::none_of(states, complete); ++messages) {
      std::set<std::vector<unsigned>> next;
      for (const auto& knows : states) {
        for (unsigned from = 0; from < P; ++from) {
          for (unsigned to = 0; to < P; ++to) {
            auto after = knows;
            after[to] |= knows[from];
            next.insert(after);
          }
        }
      }
      states = std::move(next);
    }
    EXPECT_EQ(messages, 2 * (P - 1)) << P;
  }
}

}  // namespace
}  // namespace chasqui
