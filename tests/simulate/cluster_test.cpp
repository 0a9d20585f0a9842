// SPDX-License-Identifier: MIT
// Plays on clusters: the plan itself where latency is L, and legal doings where it varies.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/clusters.hpp"
#include "chasqui/simulate/simulate.hpp"
#include "chasqui/solve/worst_case.hpp"

namespace chasqui::simulate {
namespace {

using Event = CriticalStep::Event;
using Reason = CriticalStep::Reason;

std::int64_t in(std::int64_t lo, std::int64_t hi) { return *rc::gen::inRange<std::int64_t>(lo, hi + 1); }

/// Any small cluster and a plan on it.
plan::PlanPtr any_plan() {
  Cluster c;
  c.base = {1, Time{in(1, 20)}, Time{in(0, 5)}, Time{in(1, 9)}};
  c.nodes.gamma = Time{in(0, c.base.gap().ticks)};
  c.nodes.publish = Time{in(0, std::min<std::int64_t>(6, c.base.lambda().ticks))};
  c.nodes.read = Time{in(0, std::min<std::int64_t>(6, (c.base.lambda() - c.nodes.publish).ticks))};
  const std::int64_t N = in(1, 9), size = in(1, 6);
  const bool equal = in(0, 1) == 0;
  for (std::int64_t i = 0; i < N; ++i) c.nodes.add(equal ? size : in(1, 6));
  c.base.P = c.nodes.ranks();
  Problem problem{.kind = *rc::gen::element(Kind::broadcast, Kind::reduce, Kind::allreduce, Kind::barrier,
                                            Kind::scatter, Kind::gather, Kind::allgather, Kind::alltoall, Kind::scan,
                                            Kind::reduce_scatter)};
  if (problem.kind == Kind::broadcast || problem.kind == Kind::allgather) problem.items = in(1, 3);
  if (has_root(problem.kind)) problem.root = Rank{static_cast<std::int32_t>(in(0, c.base.P - 1))};
  return plan::on_cluster(c, problem, in(0, 3) == 0 ? plan::Lanes::leaders : plan::Lanes::all);
}

RC_GTEST_PROP(PlayOnClusters, ExactLatencyReproducesThePlan, ()) {
  const plan::PlanPtr plan = any_plan();
  const Trace trace = simulate(plan->schedule(), exactly_L(plan->machine()));
  RC_ASSERT(trace.finish == plan->claim().finish);
  for (std::size_t m = 0; m < trace.times.size(); ++m) {
    RC_ASSERT(trace.times[m].send == trace.schedule.sends[m].begin);
    RC_ASSERT(trace.times[m].reception == reception_begin(plan->machine(), trace.schedule.sends[m]));
  }
  for (std::size_t i = 0; i < trace.publication_begins.size(); ++i)
    RC_ASSERT(trace.publication_begins[i] == trace.schedule.publications[i].begin);
  for (std::size_t i = 0; i < trace.reading_begins.size(); ++i)
    RC_ASSERT(trace.reading_begins[i] == trace.schedule.readings[i].begin);
}

/// Somebody, or the adapter of a node, begins something, and nothing else may begin for so long.
struct Busy {
  std::int64_t who = 0;
  Time begin, length;
};

bool one_after_another(std::vector<Busy> all) {
  std::sort(all.begin(), all.end(),
            [](const Busy& a, const Busy& b) { return a.who != b.who ? a.who < b.who : a.begin < b.begin; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].who == all[i - 1].who && all[i].begin < all[i - 1].begin + all[i - 1].length) return false;
  }
  return true;
}

RC_GTEST_PROP(PlayOnClusters, RulesHoldWhereLatencyVaries, ()) {
  const plan::PlanPtr plan = any_plan();
  const LogP& machine = plan->machine();
  const Nodes& nodes = plan->nodes();
  const Mode mode = in(0, 1) == 0 ? Mode::timed : Mode::event_driven;
  const auto seed = static_cast<std::uint64_t>(in(0, 1 << 20));
  const Trace trace = simulate(plan->schedule(), uniform(machine, Time{1}, machine.L, seed),
                               {.mode = mode, .order = {}, .stragglers = {}});
  RC_ASSERT(trace.finish != kNever);
  const Schedule& s = trace.schedule;
  std::vector<Busy> sends, receptions, node_sends, node_receptions, processor;
  for (std::size_t m = 0; m < trace.times.size(); ++m) {
    const MessageTimes& times = trace.times[m];
    sends.push_back({s.sends[m].from.index, times.send, machine.gap()});
    receptions.push_back({s.sends[m].to.index, times.reception, machine.gap()});
    node_sends.push_back({nodes.node_of(s.sends[m].from), times.send, nodes.gamma});
    node_receptions.push_back({nodes.node_of(s.sends[m].to), times.reception, nodes.gamma});
    RC_ASSERT(times.reception > times.send + machine.o);
    if (machine.o == Time{0}) continue;
    processor.push_back({s.sends[m].from.index, times.send, machine.o});
    processor.push_back({s.sends[m].to.index, times.reception, machine.o});
  }
  for (std::size_t i = 0; nodes.publish > Time{0} && i < s.publications.size(); ++i)
    processor.push_back({s.publications[i].rank.index, trace.publication_begins[i], nodes.publish});
  for (std::size_t i = 0; i < s.readings.size(); ++i) {
    if (nodes.read > Time{0}) processor.push_back({s.readings[i].rank.index, trace.reading_begins[i], nodes.read});
    const bool published = std::any_of(s.publications.begin(), s.publications.end(), [&](const Publication& p) {
      const auto at = static_cast<std::size_t>(&p - s.publications.data());
      return p.rank == s.readings[i].from && p.part == s.readings[i].part &&
             trace.publication_begins[at] + nodes.publish <= trace.reading_begins[i];
    });
    RC_ASSERT(published);
  }
  for (const auto* list : {&sends, &receptions, &node_sends, &node_receptions, &processor})
    RC_ASSERT(one_after_another(*list));
  // What enters every node once is never late (adversary.md, Theorem 3).
  if (plan->problem().kind == Kind::broadcast && plan->problem().items == 1 &&
      s.sends.size() + 1 == static_cast<std::size_t>(nodes.count()))
    RC_ASSERT(trace.finish <= plan->claim().finish);
}

Schedule example(Kind kind) {
  const Cluster c = Cluster::uniform(6, 3, {1, Time{10}, Time{1}, Time{4}}, Time{1}, Time{1}, Time{1});
  return plan::on_cluster(c, {.kind = kind})->schedule();
}

TEST(PlayOnClusters, TheCriticalPathLeadsBackToTheStart) {
  const Schedule schedule = example(Kind::broadcast);
  const Trace trace =
      simulate(schedule, exactly_L(schedule.machine), {.mode = Mode::event_driven, .order = {}, .stragglers = {}});
  ASSERT_EQ(trace.critical_path.size(), 7u);
  const Event events[] = {Event::reading, Event::publication, Event::reception,  Event::send,
                          Event::send,    Event::reading,     Event::publication};
  const Reason reasons[] = {Reason::board, Reason::data,  Reason::latency, Reason::send_gap,
                            Reason::data,  Reason::board, Reason::start};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(trace.critical_path[i].event, events[i]) << i;
    EXPECT_EQ(trace.critical_path[i].reason, reasons[i]) << i;
  }
  EXPECT_EQ(trace.critical_path.back().time, Time{0});
}

TEST(PlayOnClusters, ALateRankDelaysThoseWhoReadFromIt) {
  const Schedule schedule = example(Kind::broadcast);
  const auto late = [&](std::int32_t rank) {
    return simulate(schedule, exactly_L(schedule.machine),
                    {.order = {}, .stragglers = {{Rank{rank}, Time{7}, Time{1}, Time{4}}}});
  };
  EXPECT_EQ(late(0).finish, Time{27});
  EXPECT_THROW(late(18), Error);
}

TEST(PlayOnClusters, WhatIsNeverPublishedIsWaitedForInVain) {
  Schedule schedule = example(Kind::broadcast);
  schedule.publications.pop_back();
  EXPECT_EQ(simulate(schedule, exactly_L(schedule.machine)).finish, kNever);
}

TEST(PlayOnClusters, AnAdversaryMakesReductionsLateAndNoBroadcastThatEntersOnce) {
  const auto worst = [](Kind kind) {
    const Schedule schedule = example(kind);
    solve::AdversaryOptions options;
    options.low = Time{0};
    options.plays = 2000;
    const solve::WorstCase found = solve::worst_case(schedule, options);
    EXPECT_EQ(solve::replay(schedule, found).finish, found.finish());
    return found;
  };
  EXPECT_EQ(worst(Kind::broadcast).late, Time{0});
  EXPECT_TRUE(worst(Kind::broadcast).exact);
  EXPECT_GE(worst(Kind::reduce).late, Time{1});
  EXPECT_FALSE(worst(Kind::reduce).exact);
}

}  // namespace
}  // namespace chasqui::simulate
