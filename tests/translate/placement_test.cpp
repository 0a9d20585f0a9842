// SPDX-License-Identifier: MIT
// Programs without times get legal ones, as early as their order allows.
#include "translate/placement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "chasqui/schedule/schedule.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::translate {
namespace {

int any(int low, int high) { return *rc::gen::resize(100, rc::gen::inRange(low, high)); }

std::uint32_t add_message(std::vector<Action>& actions, Rank from, Rank to, std::vector<std::uint32_t> after) {
  const auto send = static_cast<std::uint32_t>(actions.size());
  actions.push_back({.kind = Action::Kind::send, .rank = from, .partner = send + 1, .after = std::move(after)});
  actions.push_back({.kind = Action::Kind::receive, .rank = to, .partner = send});
  return send;
}

TEST(Placement, SendsWaitForTheGapAndForWhatTheyNeed) {
  const LogP machine{3, Time{6}, Time{2}, Time{4}};
  std::vector<Action> actions;
  const auto first = add_message(actions, Rank{0}, Rank{1}, {});
  const auto second = add_message(actions, Rank{0}, Rank{2}, {first});
  const auto third = add_message(actions, Rank{1}, Rank{2}, {first + 1});
  const Placement placed = place(machine, actions, "test");
  ASSERT_FALSE(placed.stuck);
  EXPECT_EQ(placed.spans[first].begin, Time{0});
  EXPECT_EQ(placed.spans[second].begin, Time{4});  // the gap
  EXPECT_EQ(placed.spans[third].begin, Time{10});  // L + 2o after the first
}

TEST(Placement, WhatWaitsForItselfIsNamed) {
  std::vector<Action> actions;
  const auto a = add_message(actions, Rank{0}, Rank{1}, {3});  // 3: the reception of the other
  add_message(actions, Rank{1}, Rank{0}, {a + 1});
  EXPECT_TRUE(place({2, Time{1}, Time{0}, Time{1}}, actions, "test").stuck);
}

RC_GTEST_PROP(Placement, PortsAreUsedLegally, ()) {
  const LogP machine{any(2, 8), Time{any(1, 9)}, Time{any(0, 5)}, Time{any(1, 7)}};
  std::vector<Action> actions;
  std::vector<std::vector<std::uint32_t>> done(static_cast<std::size_t>(machine.P));
  for (int n = any(1, 60); n > 0; --n) {
    const auto from = static_cast<std::size_t>(any(0, static_cast<int>(machine.P)));
    const auto to = (from + static_cast<std::size_t>(any(1, static_cast<int>(machine.P)))) % done.size();
    std::vector<std::uint32_t> after;
    if (!done[from].empty() && any(0, 3) > 0)
      after.push_back(done[from][static_cast<std::size_t>(any(0, static_cast<int>(done[from].size())))]);
    const auto send =
        add_message(actions, Rank{static_cast<std::int32_t>(from)}, Rank{static_cast<std::int32_t>(to)}, after);
    done[from].push_back(send);
    done[to].push_back(send + 1);
  }
  const Placement placed = place(machine, actions, "test");
  RC_ASSERT(!placed.stuck);
  Schedule schedule;
  schedule.machine = machine;
  schedule.problem = {.kind = Kind::barrier};  // ports are judged alike for all kinds, and a barrier minds nothing else
  for (std::size_t a = 0; a < actions.size(); ++a) {
    for (const std::uint32_t before : actions[a].after) RC_ASSERT(placed.spans[a].begin >= placed.spans[before].end);
    if (actions[a].kind != Action::Kind::send) continue;
    schedule.sends.push_back(
        {placed.spans[a].begin, actions[a].rank, actions[*actions[a].partner].rank, {actions[a].rank.index, 1}});
    RC_ASSERT(placed.spans[*actions[a].partner].end >= placed.spans[a].begin + machine.lambda());
  }
  schedule.finish = actual_finish(schedule);
  const Report report = verify(schedule, {.rules = 0b11'1100});
  if (!report.legal()) RC_LOG() << to_string(report);
  RC_ASSERT(report.legal());
}

}  // namespace
}  // namespace chasqui::translate
