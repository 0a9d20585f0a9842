// SPDX-License-Identifier: MIT
// All violations are reported, not only the first of a kind, and in order.
#include <gtest/gtest.h>

#include "chasqui/verify/verify.hpp"

namespace chasqui {
namespace {

TEST(Report, EverythingDuringALongAdditionOverlapsIt) {
  Schedule s;
  s.machine = LogP::postal(1, Time{1});
  s.problem.kind = Kind::sum;
  s.operands = {14};
  s.adds = {{Time{0}, Rank{0}, Rank{0}, 1},
            {Time{2}, Rank{0}, Rank{0}, 10},
            {Time{3}, Rank{0}, Rank{0}, 1},
            {Time{5}, Rank{0}, Rank{0}, 1}};
  s.finish = Time{12};
  EXPECT_EQ(to_string(verify(s)),
            "rule 4 (one thing at a time), rank 0, time 3: adding during [3, 4) overlaps adding during [2, 12)\n"
            "rule 4 (one thing at a time), rank 0, time 5: adding during [5, 6) overlaps adding during [2, 12)\n"
            "illegal: 2 violations of the postal rules\n");
}

TEST(Report, EveryPairThatIsTooCloseIsNamed) {
  Schedule s;
  s.machine = {5, Time{20}, Time{0}, Time{4}};
  for (std::int32_t r = 1; r < 5; ++r) s.sends.push_back(send_item(Time{3 * r}, Rank{0}, Rank{r}, 0));
  s.finish = Time{32};
  const Report report = verify(s);
  ASSERT_EQ(report.violations.size(), 3U) << to_string(report);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.violations[i].rule, 2);
    EXPECT_EQ(report.violations[i].message, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(report.violations[i].time, Time{3 * static_cast<std::int64_t>(i + 2)});
  }
}

TEST(Report, RulesComeInOrder) {
  Schedule s;
  s.machine = LogP::postal(4, Time{2});
  s.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{0}, Rank{0}, Rank{9}, 0),
             send_item(Time{1}, Rank{1}, Rank{2}, 0)};
  const Report report = verify(s);
  std::vector<int> rules;
  for (const Violation& violation : report.violations) rules.push_back(violation.rule);
  EXPECT_EQ(rules, (std::vector<int>{1, 6, 7}));
  EXPECT_EQ(report.violations[1].text, "its receiver, rank 9, does not exist");
  EXPECT_EQ(report.violations[2].rank, Rank{3});
}

TEST(Report, GapIsAtLeastTheOverhead) {
  Schedule s;
  s.machine = {3, Time{1}, Time{2}, Time{1}};
  s.sends = {send_item(Time{0}, Rank{0}, Rank{1}, 0), send_item(Time{1}, Rank{0}, Rank{2}, 0)};
  s.finish = Time{6};
  EXPECT_EQ(verify(s, {.rules = 1U << 2}).violations.size(), 1U);
  s.sends[1].begin = Time{2};
  s.finish = Time{7};
  EXPECT_TRUE(verify(s).legal()) << to_string(verify(s));
}

}  // namespace
}  // namespace chasqui
