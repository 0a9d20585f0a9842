// SPDX-License-Identifier: MIT
// The three answers, and that they are never confused.
#include <gtest/gtest.h>
#include <unistd.h>

#include "chasqui/base/error.hpp"
#include "chasqui/solve/encoding.hpp"
#include "chasqui/solve/solve.hpp"
#include "solve/child.hpp"
#include "solve/sat.hpp"
#include "solve/search.hpp"

namespace chasqui::solve {
namespace {

const Instance kHard{.machine = {6, Time{2}, Time{2}, Time{3}}, .problem = {.kind = Kind::allreduce}};

TEST(Answer, InfeasibleNeedsALimitAndAProof) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  Instance instance{.machine = {4, Time{2}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};
  Options options;
  options.at_most = Time{13};
  EXPECT_EQ(solve(instance, options).status, Status::infeasible);
  options.warm_start = false;
  const Answer cold = solve(instance, options);
  EXPECT_EQ(cold.status, Status::infeasible);
  EXPECT_NE(cold.evidence, Evidence::argument);
  EXPECT_EQ(cold.bound, Time{14});
  options.at_most = Time{14};
  EXPECT_EQ(solve(instance, options).status, Status::optimal);
  options.at_most = Time{3};  // below the bound that needs no search
  EXPECT_EQ(solve(instance, options).status, Status::infeasible);
}

TEST(Answer, ATimeOutIsNoProof) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  Options options;
  options.time_limit = 0.05;
  const Answer answer = solve(kHard, options);
  ASSERT_EQ(answer.status, Status::unknown);
  EXPECT_EQ(answer.stopped, "time limit");
  ASSERT_TRUE(answer.best);
  EXPECT_LT(answer.bound, objective(*answer.best));
  EXPECT_EQ(answer.best->bound, answer.bound);
}

TEST(Answer, InterruptingKeepsWhatWasFound) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  int polls = 0;
  Options options;
  options.interrupted = [&] { return ++polls > 20; };
  std::vector<Progress> seen;
  options.progress = [&](const Progress& progress) { seen.push_back(progress); };
  const Answer answer = solve(kHard, options);
  EXPECT_EQ(answer.status, Status::unknown);
  EXPECT_EQ(answer.stopped, "interrupted");
  EXPECT_TRUE(answer.best);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front().engine, "sat");
  EXPECT_LE(seen.front().bound, *seen.front().asking);
}

TEST(Answer, EnginesAgree) {
  if (!available(Engine::both)) GTEST_SKIP() << "an engine is missing";
  Options options;
  options.engine = Engine::both;
  options.warm_start = false;
  options.time_limit = 60;
  const std::vector<Instance> instances = {
      {.machine = LogP::postal(4, Time{2}), .problem = {.items = 2}},
      {.machine = LogP::postal(4, Time{2}), .problem = {.items = 2}, .single_sending = true},
      {.machine = {3, Time{1}, Time{1}, Time{2}}, .problem = {.kind = Kind::allgather}},
      {.machine = {3, Time{1}, Time{1}, Time{1}}, .problem = {.items = 2}},
      {.machine = LogP::postal(3, Time{2}), .problem = {.kind = Kind::scan}},
      {.machine = LogP::postal(3, Time{1}), .problem = {.kind = Kind::reduce, .root = Rank{1}, .commutative = false}},
      {.machine = LogP::postal(3, Time{1}),
       .problem = {.kind = Kind::allreduce, .commutative = false},
       .two_values = true},
      {.machine = LogP::postal(4, Time{2}), .problem = {.kind = Kind::stream}, .period = Time{2}},
      {.machine = LogP::postal(1, Time{2}), .problem = {.items = 3}},
  };
  for (const Instance& instance : instances)
    EXPECT_EQ(solve(instance, options).status, Status::optimal) << to_string(instance);
}

TEST(Answer, ProgressGoesOnDuringALongQuestion) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  std::vector<Progress> seen;
  int repeated = 0;
  Options options;
  options.time_limit = 60;
  options.progress = [&](const Progress& progress) {
    if (!seen.empty() && seen.back().asking == progress.asking && progress.seconds - seen.back().seconds > 0.2)
      ++repeated;
    seen.push_back(progress);
  };
  options.interrupted = [&] { return repeated >= 2; };
  const Instance hard{.machine = {7, Time{2}, Time{2}, Time{3}}, .problem = {.kind = Kind::allreduce}};
  EXPECT_EQ(solve(hard, options).status, Status::unknown);
  EXPECT_GE(repeated, 2);
}

std::string complaint(const Instance& instance, const Answer& sat, const Answer& milp) {
  try {
    check_agreement(instance, sat, milp);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Answer, ADisagreementIsABugReport) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  const Instance instance{.machine = {4, Time{2}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};
  const Answer right = solve(instance);
  EXPECT_EQ(complaint(instance, right, right), "");
  Answer too_sure = right;  // an engine that refutes what the other has found
  too_sure.bound = right.bound + Time{1};
  too_sure.bound_source = "made up";
  for (const std::string& text : {complaint(instance, too_sure, right), complaint(instance, right, too_sure)}) {
    EXPECT_NE(text.find("the engines disagree on allgather P=4 L=2 o=2 g=2 items=1"), std::string::npos) << text;
    EXPECT_NE(text.find("best 14, bound 15 (made up)"), std::string::npos) << text;
    EXPECT_NE(text.find("please report"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  Answer impossible = right;  // no schedule, but a proof that there is none by 14
  impossible.status = Status::infeasible;
  impossible.best.reset();
  impossible.bound = Time{15};
  EXPECT_NE(complaint(instance, impossible, right).find("sat says infeasible, no schedule"), std::string::npos);
  Answer stopped = right;  // knows less, which contradicts nothing
  stopped.status = Status::unknown;
  stopped.bound = Time{10};
  stopped.best->finish = Time{16};
  EXPECT_EQ(complaint(instance, right, stopped), "");
}

TEST(Answer, ACommonDivisorOnlyChangesTheClock) {
  if (!available(Engine::sat)) GTEST_SKIP() << "no CaDiCaL";
  for (const Kind kind : {Kind::broadcast, Kind::allgather, Kind::allreduce}) {
    const Instance unit{.machine = {4, Time{2}, Time{1}, Time{1}}, .problem = {.kind = kind}};
    Instance tripled = unit;
    tripled.machine = {4, Time{6}, Time{3}, Time{3}};
    const Answer one = solve(unit), three = solve(tripled);
    EXPECT_EQ(three.status, Status::optimal);
    EXPECT_EQ(three.bound, 3 * one.bound);
    EXPECT_EQ(three.best->finish, 3 * one.best->finish);
    Options options;
    options.at_most = three.bound - Time{1};
    EXPECT_EQ(solve(tripled, options).status, Status::infeasible);
  }
  // The fine clock offers nothing that the coarse one hides: decided without dividing.
  const Instance doubled{.machine = {3, Time{2}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};
  const Answer answer = solve(doubled);
  SatSolver fine(encode(doubled, answer.bound - Time{1})->cnf());
  EXPECT_EQ(fine.decide({}, 0, {}), Verdict::unsatisfiable);
}

TEST(Answer, MilpCanBeInterrupted) {
  if (!available(Engine::milp)) GTEST_SKIP() << "no CBC";
  int polls = 0;
  Options options;
  options.engine = Engine::milp;
  options.interrupted = [&] { return ++polls > 5; };
  const Answer answer = solve(kHard, options);  // CBC alone would take hours
  EXPECT_EQ(answer.status, Status::unknown);
  EXPECT_EQ(answer.stopped, "interrupted");
  EXPECT_TRUE(answer.best);
}

TEST(Answer, AChildHandsOverOrIsKilled) {
  if (!available(Engine::milp)) GTEST_SKIP() << "no CBC";
  const std::string large(300'000, 'x');  // more than a pipe holds
  EXPECT_EQ(in_child([&] { return large; }, {}), large);
  EXPECT_EQ(in_child([]() -> std::string { _exit(3); }, {}), std::nullopt);
  EXPECT_EQ(in_child(
                []() -> std::string {
                  for (;;) sleep(1);
                },
                [] { return true; }),
            std::nullopt);
}

TEST(Answer, MilpRaisesTheBoundToo) {
  if (!available(Engine::milp)) GTEST_SKIP() << "no CBC";
  Options options;
  options.engine = Engine::milp;
  options.warm_start = false;
  options.time_limit = 100;
  const Instance instance{.machine = {3, Time{1}, Time{2}, Time{2}}, .problem = {.kind = Kind::allgather}};
  const Answer milp = solve(instance, options);
  options.engine = Engine::sat;
  if (available(Engine::sat)) {
    EXPECT_EQ(solve(instance, options).bound, milp.bound);
  }
  EXPECT_EQ(milp.status, Status::optimal);
}

}  // namespace
}  // namespace chasqui::solve
