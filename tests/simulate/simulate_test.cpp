// SPDX-License-Identifier: MIT
#include "chasqui/simulate/simulate.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/alltoall.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/reduce_scatter.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/sum.hpp"

namespace chasqui::simulate {
namespace {

std::vector<plan::PlanPtr> plans(const LogP& machine) {
  const Rank root{static_cast<std::int32_t>(machine.P / 2)};
  return {plan::broadcast(machine, root),
          plan::reduce(machine, root, false),
          plan::scatter(machine, root),
          plan::gather(machine, root),
          plan::sum_operands(machine, 3 * machine.P + 5),
          plan::allgather(machine, 2),
          plan::alltoall(machine, 2),
          plan::reduce_scatter(machine, 2),
          plan::allreduce(machine, true),
          plan::allreduce(machine, false),
          plan::scan(machine, false),
          plan::scan(machine, true),
          plan::barrier(machine),
          plan::kitem_reduce(machine, 4, root),
          plan::kitem_reduce(machine, 3, root, false),
          plan::kitem(machine, 3, root)};
}

/// The trace as a schedule: every message at the time it was really sent.
Schedule as_played(const Trace& trace) {
  Schedule played = trace.schedule;
  for (std::size_t m = 0; m < played.sends.size(); ++m) played.sends[m].begin = trace.times[m].send;
  for (std::size_t a = 0; a < played.adds.size(); ++a) played.adds[a].begin = trace.add_begins[a];
  played.finish = trace.finish;
  normalise(played);
  return played;
}

void expect_trace_equals_plan(const plan::Plan& plan) {
  const Latency exact = exactly_L(plan.machine());
  const Trace trace = simulate(plan.schedule(), exact);
  const std::string name = to_string(plan.machine()) + " " + std::string(to_string(plan.problem().kind));
  ASSERT_EQ(trace.finish, plan.claim().finish) << name;
  ASSERT_EQ(as_played(trace), plan.schedule()) << name;
  for (std::size_t m = 0; m < trace.times.size(); ++m) {
    ASSERT_EQ(trace.times[m].send, trace.schedule.sends[m].begin) << name;
    ASSERT_EQ(trace.times[m].reception, reception_begin(plan.machine(), trace.schedule.sends[m])) << name;
  }
  // From the local forms alone the same.
  const auto local = [&](Rank rank) { return plan.local(rank); };
  const Trace from_local = simulate(plan.machine(), plan.problem(), local, exact);
  Schedule played = as_played(from_local);
  played.bound = plan.claim().bound;
  ASSERT_EQ(played, plan.schedule()) << name;
  // Where ports or overheads are contended, haste can make waste: only rooted collectives are sure to gain, and of
  // broadcasts and reductions those of one item.
  const Trace eager = simulate(plan.schedule(), exact, {.mode = Mode::event_driven});
  const Kind kind = plan.problem().kind;
  const bool many_items = (kind == Kind::broadcast || kind == Kind::reduce) && plan.problem().items > 1;
  if (has_root(plan.problem().kind) && !many_items) {
    ASSERT_LE(eager.finish, plan.claim().finish) << name;
  }
}

TEST(Simulate, ExactLatencyReproducesEveryPlan) {
  for (std::int64_t L = 0; L <= 6; L += 3) {
    for (std::int64_t o = 0; o <= 2; ++o) {
      for (std::int64_t g = 1; g <= 5; g += 2) {
        if (L + o == 0 || (o == 0 && L == 0)) continue;
        for (std::int64_t P = 1; P <= 20; P += 4) {
          for (const auto& plan : plans({P, Time{L}, Time{o}, Time{g}})) expect_trace_equals_plan(*plan);
        }
      }
    }
  }
}

TEST(Simulate, ExactLatencyReproducesPlansOfManyRanksAndLongTimes) {
  expect_trace_equals_plan(*plan::broadcast({6000, Time{123'456}, Time{321}, Time{777}}, Rank{4321}));
  expect_trace_equals_plan(*plan::broadcast(LogP::postal(12'000, Time{5}), Rank{0}));
  expect_trace_equals_plan(*plan::reduce({5000, Time{1'000'000'007}, Time{3}, Time{5}}, Rank{0}));
  expect_trace_equals_plan(*plan::scan(LogP::postal(2500, Time{70}), false));
}

TEST(Simulate, ShorterLatenciesNeverDelayASingleItem) {
  EXPECT_TRUE(rc::check("a tree only gets faster", [] {
    const LogP machine{*rc::gen::inRange<std::int64_t>(1, 100), Time{*rc::gen::inRange<std::int64_t>(1, 30)},
                       Time{*rc::gen::inRange<std::int64_t>(0, 5)}, Time{*rc::gen::inRange<std::int64_t>(1, 9)}};
    const auto plan = plan::broadcast(machine);
    const auto latency = uniform(machine, Time{1}, machine.L, *rc::gen::arbitrary<std::uint64_t>());
    const Trace timed = simulate(plan->schedule(), latency);
    const Trace eager = simulate(plan->schedule(), latency, {.mode = Mode::event_driven});
    RC_ASSERT(timed.finish <= plan->claim().finish);
    RC_ASSERT(eager.finish <= timed.finish);
  }));
}

TEST(Simulate, QueueingDelaysWhatComesTogether) {
  // Two messages arrive at rank 2 in one step: the pool hands them out one by one, the planned one first.
  Schedule schedule;
  schedule.machine = LogP::postal(3, Time{4});
  schedule.problem = {.kind = Kind::gather, .root = Rank{2}};
  schedule.sends = {send_item(Time{0}, Rank{0}, Rank{2}, 0), send_item(Time{1}, Rank{1}, Rank{2}, 1)};
  const auto latency = table(schedule.machine, {Time{4}, Time{3}});
  const Trace trace = simulate(schedule, latency);
  EXPECT_EQ(trace.times[0].reception, Time{4});
  EXPECT_EQ(trace.times[1].reception, Time{5});
  const Trace reversed = simulate(schedule, latency, {.ties = Ties::reversed});
  EXPECT_EQ(reversed.times[0].reception, Time{5});
  EXPECT_EQ(reversed.times[1].reception, Time{4});
  ASSERT_EQ(reversed.critical_path.size(), 3u);
  EXPECT_EQ(reversed.critical_path[0].reason, CriticalStep::Reason::receive_gap);
  EXPECT_EQ(reversed.critical_path[1].reason, CriticalStep::Reason::latency);
  EXPECT_EQ(reversed.critical_path[2].reason, CriticalStep::Reason::planned);
}

TEST(Simulate, StragglersHoldUpWhoWaitsForThem) {
  const LogP machine{8, Time{6}, Time{2}, Time{4}};
  const auto plan = plan::broadcast(machine);
  const Straggler late{.rank = Rank{1}, .start = Time{100}, .o = Time{2}, .g = Time{4}};
  const Trace trace = simulate(plan->schedule(), exactly_L(machine), {.stragglers = {late}});
  EXPECT_GT(trace.finish, Time{100});
  const Straggler slow{.rank = Rank{0}, .start = Time{0}, .o = Time{5}, .g = Time{4}};
  EXPECT_GT(simulate(plan->schedule(), exactly_L(machine), {.stragglers = {slow}}).finish, plan->claim().finish);
  const Straggler nobody{.rank = Rank{8}, .start = Time{0}, .o = Time{5}, .g = Time{4}};
  EXPECT_THROW(simulate(plan->schedule(), exactly_L(machine), {.stragglers = {nobody}}), Error);
  const Straggler endless{.rank = Rank{0}, .start = Time{kMaxParameter + 1}, .o = Time{5}, .g = Time{4}};
  EXPECT_THROW(simulate(plan->schedule(), exactly_L(machine), {.stragglers = {endless}}), Error);
}

TEST(Simulate, APlayThatLeavesTheRangeOfTimesIsRefused) {
  const LogP machine{5000, Time{6}, Time{2}, Time{4}};
  const Straggler slow{.rank = Rank{0}, .start = Time{0}, .o = Time{0}, .g = Time{kMaxParameter}};
  EXPECT_THROW(simulate(plan::scatter(machine)->schedule(), exactly_L(machine), {.stragglers = {slow}}), Error);
  Schedule chain;  // each tells the next one
  chain.machine = {5000, Time{1}, Time{0}, Time{1}};
  chain.problem = {.kind = Kind::broadcast};
  for (std::int32_t r = 0; r + 1 < 5000; ++r) chain.sends.push_back(send_item(Time{r}, Rank{r}, Rank{r + 1}, 0));
  EXPECT_THROW(simulate(chain, uniform(chain.machine, Time{kMaxParameter}, Time{kMaxParameter}, 1)), Error);
}

TEST(Simulate, TheCriticalPathOfABroadcastIsItsLongestBranch) {
  const LogP machine{8, Time{6}, Time{2}, Time{4}};
  const Trace trace = simulate(plan::broadcast(machine)->schedule(), exactly_L(machine));
  ASSERT_FALSE(trace.critical_path.empty());
  EXPECT_EQ(trace.critical_path.front().event, CriticalStep::Event::reception);
  EXPECT_EQ(trace.critical_path.front().time + machine.o, trace.finish);
  EXPECT_EQ(trace.critical_path.back().time, Time{0});
  EXPECT_EQ(trace.item_delay, std::vector<Time>{trace.finish});
  EXPECT_GT(trace.utilisation, 0.0);
  EXPECT_LT(trace.utilisation, 1.0);
}

TEST(Simulate, AScheduleThatSendsWhatItNeverGetsIsStuck) {
  Schedule schedule;
  schedule.machine = LogP::postal(3, Time{1});
  schedule.sends = {send_item(Time{0}, Rank{1}, Rank{2}, 0)};
  EXPECT_EQ(simulate(schedule, exactly_L(schedule.machine)).finish, kNever);
}

// Rank 1 gets item 0 from ranks 2 and 3 and item 1 from rank 2, then hands item 0 to the root.
TEST(Simulate, AReductionOfSeveralItemsWaitsForItsOwnItemOnly) {
  Schedule schedule;
  schedule.machine = LogP::postal(4, Time{2});
  schedule.problem = {.kind = Kind::reduce, .items = 2};
  schedule.sends = {send_item(Time{0}, Rank{2}, Rank{1}, 0), send_item(Time{1}, Rank{3}, Rank{1}, 0),
                    send_item(Time{2}, Rank{2}, Rank{1}, 1), send_item(Time{5}, Rank{1}, Rank{0}, 0)};
  const auto sent_at = [&](std::vector<std::int64_t> latencies) {
    const auto latency = [&](const Send& send) { return Time{latencies[static_cast<std::size_t>(send.begin.ticks)]}; };
    const Trace trace = simulate(schedule, [&](const Send& send, std::size_t) { return latency(send); });
    const Trace local = simulate(
        schedule.machine, schedule.problem, [&](Rank rank) { return restrict_to(schedule, rank); },
        [&](const Send& send, std::size_t) { return latency(send); });
    EXPECT_EQ(trace.finish, local.finish);
    for (std::size_t m = 0; m < trace.times.size(); ++m) {
      if (trace.schedule.sends[m].from == Rank{1}) return trace.times[m].send.ticks;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(sent_at({2, 2, 2, 0, 0, 2}), 5);
  EXPECT_EQ(sent_at({2, 2, 40, 0, 0, 2}), 5) << "item 1 is none of its business";
  EXPECT_EQ(sent_at({20, 2, 2, 0, 0, 2}), 20) << "the first message of item 0 is late";
  EXPECT_EQ(sent_at({2, 20, 2, 0, 0, 2}), 21) << "the second message of item 0 is late";
}

TEST(Simulate, RunsAreRepeatableFromTheSeed) {
  const LogP machine = LogP::postal(200, Time{9});
  const auto schedule = plan::broadcast(machine)->schedule();
  const auto run = [&](std::uint64_t seed) {
    return simulate(schedule, uniform(machine, Time{1}, Time{9}, seed)).times;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace chasqui::simulate
