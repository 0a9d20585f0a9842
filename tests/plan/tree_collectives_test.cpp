// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/broadcast.hpp"
#include "chasqui/plan/reduce.hpp"
#include "chasqui/plan/scatter.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "plan/local_equals_schedule.hpp"

namespace chasqui::plan {
namespace {

std::vector<PlanPtr> all_plans(const LogP& machine, Rank root) {
  return {broadcast(machine, root), reduce(machine, root, true), reduce(machine, root, false), scatter(machine, root),
          gather(machine, root)};
}

TEST(TreeCollectives, LocalFormsTogetherAreTheScheduleOnAGrid) {
  for (std::int64_t L = 0; L <= 6; L += 2) {
    for (std::int64_t o = 0; o <= 3; ++o) {
      for (std::int64_t g = 1; g <= 5; g += 2) {
        if (L + o == 0) continue;
        for (std::int64_t P = 1; P <= 40; P += 3) {
          for (const auto& plan : all_plans({P, Time{L}, Time{o}, Time{g}}, Rank{static_cast<std::int32_t>(P / 3)})) {
            expect_local_forms_equal_schedule(*plan);
          }
        }
      }
    }
  }
}

TEST(TreeCollectives, LocalFormsTogetherAreTheScheduleOnRandomMachines) {
  EXPECT_TRUE(rc::check("local forms and schedule agree", [] {
    const auto P = *rc::gen::inRange<std::int64_t>(1, 200);
    const LogP machine{P, Time{*rc::gen::inRange<std::int64_t>(1, 2000)}, Time{*rc::gen::inRange<std::int64_t>(0, 500)},
                       Time{*rc::gen::inRange<std::int64_t>(1, 900)}};
    const Rank root{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, P))};
    for (const auto& plan : all_plans(machine, root)) expect_local_forms_equal_schedule(*plan);
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(TreeCollectives, FinishIsTheLastAvailability) {
  const LogP machine{100, Time{7}, Time{2}, Time{3}};
  for (const auto& plan : all_plans(machine, Rank{42})) {
    Time last{0};
    for (const Send& send : plan->schedule().sends) last = std::max(last, available(machine, send));
    EXPECT_EQ(last, plan->claim().finish) << to_string(plan->problem().kind);
    EXPECT_TRUE(plan->claim().optimal());
  }
}

TEST(TreeCollectives, OneRankAloneNeedsNoMessage) {
  for (const auto& plan : all_plans({1, Time{5}, Time{1}, Time{2}}, Rank{0})) {
    EXPECT_EQ(plan->claim().finish, Time{0});
    EXPECT_TRUE(plan->schedule().sends.empty());
    EXPECT_TRUE(plan->local(Rank{0}).sends.empty());
  }
}

TEST(TreeCollectives, NonCommutativeReduceKeepsIntervalsInsideTheRankOrder) {
  const auto plan = reduce(LogP::postal(50, Time{3}), Rank{20}, false);
  std::int64_t of_two_values = 0;
  for (const Send& send : plan->schedule().sends) {
    EXPECT_LE(send.part.lo + send.part.len, 50);
    EXPECT_LE(send.second.lo + send.second.len, 50);
    if (send.second.len > 0) ++of_two_values;
  }
  EXPECT_GT(of_two_values, 0);
}

TEST(TreeCollectives, BadInputIsNamed) {
  EXPECT_THROW(broadcast({0, Time{1}, Time{0}, Time{1}}), Error);
  EXPECT_THROW(broadcast(LogP::postal(4, Time{1}), Rank{4}), Error);
  EXPECT_THROW(reduce(LogP::postal(4, Time{1}), Rank{-1}), Error);
  EXPECT_THROW(scatter({1'000'000'000, Time{1}, Time{0}, Time{100'000'000'000}}), Error);  // (P-2)·g is too long
}

}  // namespace
}  // namespace chasqui::plan
