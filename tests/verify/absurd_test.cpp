// SPDX-License-Identifier: MIT
// Values that no planner makes: the verifier answers with violations, within bounds, and survives.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "verify/legal_examples.hpp"

namespace chasqui {
namespace {

constexpr std::int32_t kInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();

std::int32_t any_int() {
  return *rc::gen::element<std::int32_t>(0, 1, 2, 3, 4, 5, -1, -2, kInt, kInt - 1, -kInt, -kInt - 1, 100'000);
}

std::int64_t any_long() {
  return *rc::gen::element<std::int64_t>(0, 1, 2, 3, 7, 20, -1, kMaxTime, -kMaxTime, kMaxTime + 1, kLong, -kLong,
                                         -kLong - 1, 1'000'000'000'000'000, kInt);
}

std::int64_t mostly(std::int64_t usual) { return *rc::gen::inRange(0, 4) == 0 ? any_long() : usual; }

RC_GTEST_PROP(Absurd, NothingBringsTheVerifierDown, ()) {
  Schedule s;
  s.machine = {mostly(5), Time{mostly(3)}, Time{mostly(1)}, Time{mostly(2)}};
  s.problem = {static_cast<Kind>(*rc::gen::inRange(0, 12)), Rank{*rc::gen::inRange(0, 3) == 0 ? any_int() : 0},
               mostly(2), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  s.finish = Time{any_long()};
  s.bound = Time{any_long()};
  s.period = Time{mostly(4)};
  s.delay = Time{any_long()};
  for (int n = *rc::gen::inRange(0, 30); n > 0; --n) {
    s.sends.push_back(
        {Time{any_long()}, Rank{any_int()}, Rank{any_int()}, {any_int(), any_int()}, {any_int(), any_int()}});
    if (*rc::gen::arbitrary<bool>()) s.sends.back().second = {};
    if (*rc::gen::arbitrary<bool>()) s.sends.back().part.len = 1;
  }
  if (s.machine.P >= 0 && s.machine.P < 1000) {
    for (std::int64_t r = 0; r < s.machine.P; ++r) s.operands.push_back(mostly(2));
  }
  for (int n = *rc::gen::inRange(0, 9); n > 0; --n) {
    s.adds.push_back({Time{any_long()}, Rank{any_int()}, Rank{any_int()}, any_long()});
  }
  const VerifyOptions few{.most = 50};
  RC_ASSERT(verify(s, few).violations.size() <= few.most);
  if (s.problem.kind != Kind::stream) {
    verify(s, {.receptions = Receptions::buffered, .buffer = any_long(), .most = 50});
  }
}

TEST(Absurd, ManyRanksAndFewMessages) {
  Schedule s;
  s.machine = LogP::postal(kMaxProcessors, Time{3});
  for (const Kind kind :
       {Kind::broadcast, Kind::scatter, Kind::allgather, Kind::allreduce, Kind::scan, Kind::barrier}) {
    s.problem.kind = kind;
    const Report report = verify(s, {.most = 10});
    EXPECT_EQ(report.violations.size(), 10U);
    const std::int64_t all =
        kMaxProcessors - (kind == Kind::allgather || kind == Kind::allreduce || kind == Kind::barrier ? 0 : 1);
    EXPECT_EQ(report.omitted, all - 10) << to_string(kind);
  }
}

TEST(Absurd, MoreItemsThanNumbers) {
  Schedule s;
  s.machine = LogP::postal(kMaxProcessors, Time{3});
  s.problem = {.kind = Kind::scatter, .items = kMaxTime};
  EXPECT_EQ(verify(s, {.most = 10}).omitted, kMaxProcessors - 11);
}

TEST(Absurd, ReductionsOfMoreItemsThanMemoryHolds) {
  Schedule s;
  s.problem = {.kind = Kind::reduce, .items = 1'000'000'000'000'000};
  s.machine = LogP::postal(1, Time{1});
  EXPECT_TRUE(verify(s).legal());
  s.machine = LogP::postal(2, Time{1});
  EXPECT_EQ(verify(s, {.most = 10}).violations.size(), 10U);
  EXPECT_TRUE(verify(s, {.rules = 0b100}).legal());  // rule 7 is not asked for
}

TEST(Absurd, OneProcessorHasNothingToDo) {
  for (const Kind kind : {Kind::broadcast, Kind::scatter, Kind::gather, Kind::allgather, Kind::reduce, Kind::allreduce,
                          Kind::scan, Kind::barrier}) {
    Schedule s;
    s.machine = LogP::postal(1, Time{1});
    s.problem.kind = kind;
    EXPECT_TRUE(verify(s).legal()) << to_string(kind) << to_string(verify(s));
  }
}

TEST(Absurd, TheKindMustExist) {
  Schedule s;
  s.problem.kind = static_cast<Kind>(77);
  EXPECT_FALSE(verify(s).legal());
}

TEST(Options, OnlyTheRulesAskedFor) {
  Schedule s = examples::greedy_broadcast(LogP::postal(4, Time{2}), Rank{0});
  s.sends.pop_back();
  for (Send& send : s.sends) send.begin = Time{0};
  const Report all = verify(s);
  for (int rule = 1; rule <= 7; ++rule) {
    std::size_t count = 0;
    for (const Violation& violation : all.violations) count += violation.rule == rule ? 1 : 0;
    EXPECT_EQ(verify(s, {.rules = 1U << rule}).violations.size(), count) << rule;
  }
}

TEST(Options, CapacityIsCheckedThoughRulesTwoAndThreeImplyIt) {
  Schedule s;
  s.machine = LogP::postal(4, Time{2});
  for (std::int32_t r = 1; r < 4; ++r) s.sends.push_back(send_item(Time{0}, Rank{0}, Rank{r}, 0));
  const Report report = verify(s, {.rules = 1U << 5});
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_EQ(to_string(report.violations[0]),
            "rule 5 (capacity), rank 0, time 0, message 2: this send leaves more than 2 messages in flight "
            "from it");
}

TEST(Options, TheRestIsCounted) {
  Schedule s;
  s.machine = LogP::postal(100, Time{1});
  const Report report = verify(s, {.most = 3});
  EXPECT_EQ(report.violations.size(), 3U);
  EXPECT_EQ(report.omitted, 96);
  EXPECT_NE(to_string(report).find("and 96 more\nillegal: 99 violations of the postal rules\n"), std::string::npos);
}

}  // namespace
}  // namespace chasqui
