// SPDX-License-Identifier: MIT
#include "chasqui/solve/worst_case.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/verify/verify.hpp"
#include "solve/adversary/lateness.hpp"
#include "solve/sat.hpp"

namespace chasqui::solve {
namespace {

/// Every latency and every order of ties, one simulation each: the definition, for a handful of messages.
Time worst_by_brute_force(const Schedule& schedule, Time low) {
  const Trace plain = simulate::simulate(schedule, simulate::exactly_L(schedule.machine));
  const std::size_t messages = plain.schedule.sends.size();
  const auto due = due_times(plain.schedule, Lateness::finish);
  std::vector<std::uint32_t> order(messages);
  for (std::size_t m = 0; m < messages; ++m) order[m] = static_cast<std::uint32_t>(m);
  Time worst{0};
  do {
    std::vector<Time> latencies(messages, low);
    for (bool more = true; more;) {
      const Trace trace =
          simulate::simulate(schedule, simulate::table(schedule.machine, latencies),
                             {.ties = simulate::Ties::given, .order = order, .stragglers = {}, .critical_path = false});
      worst = std::max(worst, lateness_of(trace, due));
      more = false;
      for (std::size_t m = 0; m < messages && !more; ++m) {
        if (latencies[m] < schedule.machine.L) {
          latencies[m] += Time{1};
          std::fill(latencies.begin(), latencies.begin() + static_cast<std::ptrdiff_t>(m), low);
          more = true;
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return worst;
}

/// A random legal-looking schedule of a few items: everyone gets every item once from someone who has it by then.
Schedule random_broadcast(const LogP& machine, std::int64_t items) {
  Schedule schedule;
  schedule.machine = machine;
  const std::int64_t P = machine.P;
  const std::int64_t L = machine.lambda().ticks;
  schedule.problem = {.kind = Kind::broadcast, .items = items};
  std::vector<std::vector<std::int64_t>> has(static_cast<std::size_t>(P),
                                             std::vector<std::int64_t>(static_cast<std::size_t>(items), 1 << 20));
  std::fill(has[0].begin(), has[0].end(), 0);
  std::vector<std::pair<std::int64_t, std::int64_t>> sent;      // (time, from)
  std::vector<std::pair<std::int64_t, std::int64_t>> received;  // (time, to)
  for (std::int64_t time = 0; time < 40; ++time) {
    for (std::int64_t from = 0; from < P; ++from) {
      const auto item = *rc::gen::inRange<std::int64_t>(0, items);
      const auto to = *rc::gen::inRange<std::int64_t>(1, P);
      auto& target = has[static_cast<std::size_t>(to)][static_cast<std::size_t>(item)];
      if (from == to || target < (1 << 20) ||
          has[static_cast<std::size_t>(from)][static_cast<std::size_t>(item)] > time)
        continue;
      if (std::find(received.begin(), received.end(), std::pair{time + L, to}) != received.end()) continue;
      received.emplace_back(time + L, to);
      target = time + L;
      schedule.sends.push_back(send_item(Time{time}, Rank{static_cast<std::int32_t>(from)},
                                         Rank{static_cast<std::int32_t>(to)}, static_cast<std::int32_t>(item)));
    }
  }
  normalise(schedule);
  schedule.finish = actual_finish(schedule);
  return schedule;
}

TEST(WorstCase, ExactSearchEqualsBruteForceAndItsWitnessReplays) {
  EXPECT_TRUE(rc::check("exact = brute force", [] {
    const auto P = *rc::gen::inRange<std::int64_t>(2, 5);
    const auto L = *rc::gen::inRange<std::int64_t>(1, 4);
    const auto items = *rc::gen::inRange<std::int64_t>(1, P == 4 ? 2 : 4);
    const Schedule schedule = random_broadcast(LogP::postal(P, Time{L}), items);
    RC_PRE(schedule.sends.size() <= 5);
    const WorstCase exact = worst_case_exact(schedule, {});
    RC_ASSERT(exact.exact);
    RC_ASSERT(exact.late == worst_by_brute_force(schedule, Time{1}));
    const Trace trace = replay(schedule, exact);
    RC_ASSERT(trace.finish == exact.finish());
    if (sat_available()) {
      const WorstCase sat = worst_case_sat(schedule, {});
      RC_ASSERT(sat.exact);
      RC_ASSERT(sat.late == exact.late);
      RC_ASSERT(replay(schedule, sat).finish == sat.finish());
    }
    const WorstCase climbed = worst_case_heuristic(schedule, {.plays = 300});
    RC_ASSERT(climbed.late <= exact.late);
    RC_ASSERT(replay(schedule, climbed).finish == std::max(climbed.finish(), climbed.nominal));
  }));
}

/// With overheads receptions and sends compete for the processor, and latency 0 is possible.
TEST(WorstCase, SatEqualsBruteForceWhereOverheadsCompete) {
  if (!sat_available()) GTEST_SKIP() << "built without CaDiCaL";
  std::size_t late = 0;
  EXPECT_TRUE(rc::check("SAT = brute force, o > 0", [&late] {
    const LogP machine{*rc::gen::inRange<std::int64_t>(2, 5), Time{*rc::gen::inRange<std::int64_t>(0, 4)},
                       Time{*rc::gen::inRange<std::int64_t>(1, 4)}, Time{*rc::gen::inRange<std::int64_t>(1, 5)}};
    const Schedule schedule = random_broadcast(machine, *rc::gen::inRange<std::int64_t>(1, 4));
    RC_PRE(schedule.sends.size() <= 5);
    const Time low{*rc::gen::inRange<std::int64_t>(0, machine.L.ticks + 1)};
    const WorstCase sat = worst_case_sat(schedule, {.low = low});
    RC_ASSERT(sat.exact);
    RC_ASSERT(sat.late == worst_by_brute_force(schedule, low));
    RC_ASSERT(std::max(replay(schedule, sat).finish, sat.nominal) == sat.finish());
    if (sat.late > Time{0}) ++late;
  }));
  EXPECT_GT(late, 0u);
}

TEST(WorstCase, SatEqualsBruteForceForEveryKindOfCollective) {
  if (!sat_available()) GTEST_SKIP() << "built without CaDiCaL";
  for (const LogP& machine : {LogP{3, Time{1}, Time{1}, Time{2}}, LogP{3, Time{2}, Time{2}, Time{1}},
                              LogP{3, Time{2}, Time{0}, Time{2}}, LogP{4, Time{1}, Time{1}, Time{1}}}) {
    std::vector<plan::PlanPtr> plans = {plan::broadcast(machine, Rank{1}), plan::reduce(machine, Rank{0}, false),
                                        plan::gather(machine, Rank{2}), plan::scan(machine, false)};
    if (machine.P == 3 && machine.L == Time{1})
      plans.insert(plans.end(), {plan::allgather(machine, 1), plan::allreduce(machine, true), plan::barrier(machine)});
    for (const plan::PlanPtr& plan : plans) {
      const Time low{machine.o == Time{0} ? 1 : 0};
      const WorstCase sat = worst_case_sat(plan->schedule(), {.low = low});
      ASSERT_TRUE(sat.exact);
      EXPECT_EQ(sat.late, worst_by_brute_force(plan->schedule(), low))
          << to_string(machine) << " " << to_string(plan->problem().kind);
      EXPECT_EQ(worst_case(plan->schedule(), {.low = low}).late, sat.late);
    }
  }
}

TEST(WorstCase, OneItemIsNeverLate) {
  const auto plan = plan::broadcast(LogP::postal(12, Time{3}));
  const WorstCase worst = worst_case(plan->schedule(), {});
  EXPECT_TRUE(worst.exact);
  EXPECT_EQ(worst.late, Time{0});
  EXPECT_EQ(worst.robustness(), 1.0);
}

/// Each rank receives one message, but rank 1 sends its own before (adversary.md, Theorem 3).
TEST(WorstCase, AnEarlyReceptionDelaysASend) {
  Schedule schedule;
  schedule.machine = LogP{.P = 2, .L = Time{6}, .o = Time{2}, .g = Time{2}};
  schedule.problem = {.kind = Kind::allgather};
  schedule.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{4}, Rank{1}, Rank{0}, 1)};
  schedule.finish = Time{14};
  ASSERT_TRUE(verify(schedule).legal());
  const WorstCase worst = worst_case(schedule, {.low = Time{1}});
  EXPECT_EQ(worst.late, Time{1});
  EXPECT_EQ(worst.late, worst_by_brute_force(schedule, Time{1}));
}

TEST(WorstCase, ALatencyFloorLimitsTheAdversary) {
  // Three items straight from the root: any shortening only helps; through a relay it can hurt.
  Schedule schedule;
  schedule.machine = LogP::postal(3, Time{3});
  schedule.problem = {.kind = Kind::broadcast, .items = 2};
  schedule.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{1}, Rank{0}, Rank{1}, 1),
                    send_item(Time{3}, Rank{1}, Rank{2}, 0), send_item(Time{4}, Rank{1}, Rank{2}, 1)};
  schedule.finish = Time{7};
  const WorstCase free = worst_case(schedule, {.low = Time{1}});
  const WorstCase fixed = worst_case(schedule, {.low = Time{3}});
  EXPECT_EQ(fixed.late, Time{0});
  EXPECT_EQ(free.late, worst_by_brute_force(schedule, Time{1}));
  EXPECT_GT(free.late, Time{0});
  EXPECT_THROW(worst_case(schedule, {.low = Time{4}}), Error);
  EXPECT_THROW(worst_case(schedule, {.low = Time{0}}), Error);
}

/// Illegal, but playable: no formula with a variable for each of so many ticks.
TEST(WorstCase, ATimeFarBeforeTheStartCostsNoMemory) {
  Schedule schedule;
  schedule.machine = {3, Time{3}, Time{1}, Time{1}};
  schedule.problem = {.kind = Kind::broadcast};
  schedule.sends = {send_item(Time{-1'000'000'000}, Rank{0}, Rank{1}, 0), send_item(Time{0}, Rank{0}, Rank{2}, 0)};
  schedule.finish = Time{5};
  EXPECT_FALSE(worst_case(schedule, {.plays = 10}).exact);
}

}  // namespace
}  // namespace chasqui::solve
