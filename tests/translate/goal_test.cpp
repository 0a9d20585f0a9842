// SPDX-License-Identifier: MIT
// GOAL texts: what we write comes back as it was, what others write is read and judged.
#include "chasqui/simulate/goal.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/collectives.hpp"
#include "chasqui/translate/translate.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::translate {
namespace {

const std::vector<LogP> kMachines = {{1, Time{3}, Time{0}, Time{1}},   {2, Time{3}, Time{1}, Time{2}},
                                     {5, Time{6}, Time{2}, Time{4}},   {8, Time{6}, Time{2}, Time{4}},
                                     {9, Time{1}, Time{0}, Time{1}},   {13, Time{37}, Time{60}, Time{20}},
                                     {16, Time{4}, Time{3}, Time{11}}, {21, Time{5}, Time{1}, Time{1}}};

TEST(Goal, PlansComeBackAsTheyWere) {
  for (const Kind kind : {Kind::broadcast, Kind::reduce, Kind::barrier, Kind::scatter, Kind::gather, Kind::alltoall}) {
    for (const LogP& machine : kMachines) {
      const Problem problem{.kind = kind};
      const Schedule plan = plan::make_plan({.machine = machine, .problem = problem})->schedule();
      const Imported back = from_goal(simulate::to_goal(plan), "plan", {machine.L, machine.o, machine.g}, problem);
      ASSERT_EQ(back.schedule.sends.size(), plan.sends.size());
      EXPECT_LE(back.schedule.finish, plan.finish) << to_string(kind) << ' ' << to_string(machine);
      Schedule judged = back.schedule;
      const Report report = verify(judged);
      EXPECT_TRUE(report.legal()) << to_string(kind) << ' ' << to_string(machine) << '\n' << to_string(report);
      EXPECT_GE(back.schedule.finish, plan.bound) << to_string(kind) << ' ' << to_string(machine);
    }
  }
}

TEST(Goal, WhatOthersWriteIsRead) {
  const char* text = R"(// a chain with a calculation in between
num_ranks 3

rank 0 {
  l1: send 100b to 1 tag 5 cpu 0 nic 0
}
rank 1 { /* on its way
  to the last */
  l3 requires l2
  l1: recv 100b from 0 tag 5
  l2: calc 7
  l2 requires l1
  l3: send 100b to 2
}
rank 2 {
  recv 100b from 1
}
)";
  const Imported chain = from_goal(text, "chain.goal", {Time{4}, Time{1}, Time{2}}, {.kind = Kind::broadcast});
  EXPECT_EQ(chain.schedule.finish, Time{6 + 7 + 6});
  EXPECT_TRUE(verify(chain.schedule).legal());
}

void expect_refused(const char* text, const char* part) {
  try {
    from_goal(text, "x.goal", {Time{1}}, {.kind = Kind::broadcast});
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Goal, FaultsHaveTheirPlace) {
  expect_refused("", "num_ranks is missing");
  expect_refused("num_ranks x", "'x'");
  expect_refused("num_ranks 2\nrank 2 {\n}", "line 2");
  expect_refused("num_ranks 2\nrank 0 {\nsend 8b to 1\n}", "1 messages are sent and 0 received");
  expect_refused("num_ranks 2\nrank 0 {\nsend 8b to 0\n}", "sends to itself");
  expect_refused("num_ranks 2\nrank 0 {\na requires b\n}", "line 3: no operation of rank 0 is called a");
  expect_refused("num_ranks 2\nrank 0 {\nfly 8b to 1\n}", "fly");
  expect_refused("num_ranks 2\nrank 0 {\n", "is not closed");
  expect_refused("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}",
                 "line 3: it waits for itself");
  expect_refused("num_ranks 1\nrank 0 {\n/* }", "not closed");
  EXPECT_THROW(from_goal("num_ranks 2", "x", {Time{1}}, {.kind = Kind::scan}), Error);
  const char* const twice =
      "num_ranks 2\nrank 0 {\nrecv 8b from 1\nrecv 8b from 1\n}\nrank 1 {\nsend 8b to 0\nsend 8b to 0\n}";
  EXPECT_THROW(from_goal(twice, "x", {Time{1}}, {.kind = Kind::reduce}), Error);
}

}  // namespace
}  // namespace chasqui::translate
