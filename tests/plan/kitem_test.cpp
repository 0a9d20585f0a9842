// SPDX-License-Identifier: MIT
// k-item broadcast: every schedule through the verifier, and the bound against its definition.
#include "chasqui/plan/kitem.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/kernel/counting.hpp"
#include "plan/local_equals_schedule.hpp"
#include "plan/machines.hpp"
#include "plan/recurrence.hpp"

namespace chasqui {
namespace {

/// The definition, step by step.
std::int64_t bound_by_definition(std::int64_t P, std::int64_t L, std::int64_t k) {
  test::Recurrence f(L);
  std::int64_t sum = 0;
  for (std::int64_t t = 0;; ++t) {
    sum += std::min(f(t), P - 1);
    if (sum >= k * (P - 1)) return t + L;
  }
}

void expect_legal(const plan::PlanPtr& plan) {
  const Schedule schedule = plan->schedule();
  const Report report = verify(schedule);
  ASSERT_TRUE(report.legal()) << to_string(plan->machine()) << " k=" << plan->problem().items << "\n"
                              << to_string(report);
}

TEST(KitemBound, IsItsDefinition) {
  for (int P = 2; P <= 40; ++P) {
    for (int L = 1; L <= 12; ++L) {
      for (int k = 1; k <= 30; ++k) {
        EXPECT_EQ(plan::kitem_bound(postal(P, L), k).ticks, bound_by_definition(P, L, k)) << P << ' ' << L << ' ' << k;
        const auto counting = plan::kernel::count(P - 1, L);
        EXPECT_EQ(plan::kernel::last_step(counting, k) + L, bound_by_definition(P, L, k));
      }
    }
  }
}

// Where the closed form B(P-1) + L + (k-1) - k* of the literature is wrong: k <= k*.
TEST(KitemBound, SmallKIsNotTheClosedForm) {
  for (auto [P, L, k] : {std::tuple{6, 3, 1}, {3, 5, 2}, {8, 5, 2}, {10, 4, 2}}) {
    const auto c = plan::kernel::count(P - 1, L);
    EXPECT_LE(k, c.k_star);
    EXPECT_NE(plan::kitem_bound(postal(P, L), k).ticks, c.n + 1 + L + k - 1 - c.k_star);
  }
}

TEST(KitemBound, HugeArgumentsAndRefusals) {
  EXPECT_EQ(plan::kitem_bound(postal(2, 1'000'000'000'000'000), 2'000'000'000).ticks, 1'000'001'999'999'999);
  EXPECT_GT(plan::kitem_bound(LogP{2'147'483'647, Time{1'000'000}, Time{300}, Time{7}}, 1'000'000'000).ticks, 0);
  EXPECT_EQ(plan::kitem_bound(postal(1, 3), 5).ticks, 0);
  EXPECT_THROW(plan::kitem_bound(postal(5, 3), 0), Error);
  EXPECT_THROW(plan::kitem(postal(5, 3), -1), Error);
  EXPECT_THROW(plan::kitem(postal(5, 3), 2, Rank{5}), Error);
}

TEST(Kitem, RunningExample) {
  const auto plan = plan::kitem(postal(10, 3), 8);
  EXPECT_EQ(plan->claim().finish.ticks, 15);
  EXPECT_TRUE(plan->claim().optimal());
  EXPECT_EQ(plan::kitem_single_sending_bound(postal(10, 3), 8).ticks, 17);
  expect_legal(plan);
}

TEST(Kitem, EveryPAndLOfTheTableClaimsTheBoundForEveryK) {
  for (int L = 1; L <= 16; ++L) {
    for (int P = 1; P <= 128; ++P) {
      for (std::int64_t k : {1, 2, 3, 5, 8, 13, 1'000'000}) {
        const auto plan = plan::kitem(postal(P, L), k);
        EXPECT_TRUE(plan->claim().optimal()) << "P=" << P << " L=" << L << " k=" << k;
        EXPECT_EQ(plan->claim().bound, plan::kitem_bound(postal(P, L), k));
      }
    }
  }
}

TEST(Kitem, SmallSchedulesForEveryK) {
  for (int L = 1; L <= 8; ++L) {
    for (int P = 1; P <= 14; ++P) {
      for (int k = 1; k <= 20; ++k) {
        const auto plan = plan::kitem(postal(P, L), k);
        expect_legal(plan);
        EXPECT_TRUE(plan->claim().optimal());
      }
    }
  }
}

// One k below, at and above k*, and one long enough for a steady state, for every entry of the table with P = r mod 5.
TEST(Kitem, SampleOfTheTable) {
  for (int L = 1; L <= 16; ++L) {
    for (int P = 15 + L % 5; P <= 128; P += 5) {
      const auto k_star = plan::kernel::count(P - 1, L).k_star;
      for (std::int64_t k : {k_star, k_star + 1, k_star + 2, 3 * k_star + 20}) {
        if (k < 1) continue;
        const auto plan = plan::kitem(postal(P, L), k, Rank{P / 3});
        expect_legal(plan);
        EXPECT_TRUE(plan->claim().optimal());
      }
    }
  }
}

TEST(Kitem, LocalFormsAreTheSchedule) {
  for (auto [P, L, k, root] : {std::tuple{1, 1, 3, 0},
                               {2, 4, 5, 1},
                               {10, 3, 2, 0},
                               {10, 3, 1, 9},
                               {10, 3, 8, 4},
                               {37, 5, 40, 36},
                               {128, 16, 30, 7}}) {
    plan::expect_local_forms_equal_schedule(*plan::kitem(postal(P, L), k, Rank{root}));
  }
  plan::expect_local_forms_equal_schedule(*plan::kitem(LogP{9, Time{5}, Time{2}, Time{3}}, 6, Rank{2}));
}

TEST(Kitem, BeyondTheTable) {
  const auto found = plan::kitem(postal(150, 3), 12);
  EXPECT_TRUE(found->claim().optimal()) << found->claim().construction;
  expect_legal(found);
  const auto few = plan::kitem(postal(3000, 20), 5);
  EXPECT_TRUE(few->claim().optimal()) << few->claim().construction;
  expect_legal(few);
  const auto large = plan::kitem(postal(5000, 30), 40);
  EXPECT_GE(large->claim().finish, large->claim().bound);
  expect_legal(large);
}

TEST(Kitem, AnyMachine) {
  EXPECT_TRUE(rc::check("legal, and never below the bound", [] {
    const LogP machine{*rc::gen::inRange(1, 40), Time{*rc::gen::inRange(1, 30)}, Time{*rc::gen::inRange(0, 6)},
                       Time{*rc::gen::inRange(1, 9)}};
    const auto k = *rc::gen::inRange(1, 25);
    const Rank root{*rc::gen::inRange(0, static_cast<int>(machine.P))};
    const auto plan = plan::kitem(machine, k, root);
    RC_LOG() << to_string(machine) << " k=" << k << " " << plan->claim().construction << "\n";
    const Report report = verify(plan->schedule());
    RC_LOG() << to_string(report);
    RC_ASSERT(report.legal());
    RC_ASSERT(plan->claim().finish >= plan->claim().bound);
    const bool exact = machine.o == Time{0} && machine.L.ticks % machine.g.ticks == 0;
    if (exact && machine.L.ticks / machine.g.ticks <= 16) RC_ASSERT(plan->claim().optimal());
  }));
}

TEST(Kitem, RandomPostal) {
  EXPECT_TRUE(rc::check("at the bound", [] {
    const auto P = *rc::gen::inRange(1, 129);
    const auto L = *rc::gen::inRange(1, 17);
    const auto k = *rc::gen::inRange(1, 60);
    const auto plan = plan::kitem(postal(P, L), k, Rank{*rc::gen::inRange(0, P)});
    RC_ASSERT(plan->claim().optimal());
    RC_ASSERT(verify(plan->schedule()).legal());
  }));
}

// Beyond the table: legal, with bound and construction stated, and never above the single-sending bound (one step more for
// L = 2, where a stream cannot always meet its own).
TEST(Kitem, RandomPostalBeyondTheTable) {
  EXPECT_TRUE(rc::check("legal and at most the single-sending bound", [] {
    const auto P = *rc::gen::inRange<std::int64_t>(2, 5001);
    const auto L = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto k = *rc::gen::inRange<std::int64_t>(1, std::max<std::int64_t>(2, 40'000 / P));
    const Rank root{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, P))};
    const auto plan = plan::kitem(postal(P, L), k, root);
    const plan::Claim& claim = plan->claim();
    RC_LOG() << "P=" << P << " L=" << L << " k=" << k << " " << claim.construction << "\n";
    RC_ASSERT(!claim.construction.empty());
    RC_ASSERT(claim.bound == plan::kitem_bound(postal(P, L), k));
    RC_ASSERT(claim.finish >= claim.bound);
    RC_ASSERT(claim.finish.ticks <= plan::kitem_single_sending_bound(postal(P, L), k).ticks + (L == 2 ? 1 : 0));
    const Report report = verify(plan->schedule());
    RC_LOG() << to_string(report);
    RC_ASSERT(report.legal());
  }));
}

// What a running program gets: its time is known before it is made.
const plan::KitemOptions kQuick{.quick = true};

TEST(QuickKitem, FinishesWhenItWasSaid) {
  for (auto [P, L, k] : {std::tuple{2, 3, 5},
                         {16, 1, 9},
                         {40, 4, 30},
                         {64, 30, 5},
                         {64, 250, 40},
                         {129, 2, 41},
                         {200, 2, 41},
                         {256, 2, 41},
                         {256, 5, 60},
                         {257, 2, 41},
                         {150, 9, 20},
                         {300, 1, 7},
                         {300, 17, 3}}) {
    const auto plan = plan::kitem(postal(P, L), k, {}, kQuick);
    EXPECT_EQ(plan->claim().finish, plan::quick_kitem_time(postal(P, L), k)) << P << ' ' << L << ' ' << k;
    expect_legal(plan);
  }
}

TEST(QuickKitem, MeetsTheBoundWhereAKernelIsShippedOrMerged) {
  for (auto [P, L, k] : {std::tuple{128, 16, 100}, {200, 2, 41}, {256, 2, 41}, {256, 4, 41}, {256, 6, 128}}) {
    EXPECT_TRUE(plan::kitem(postal(P, L), k, {}, kQuick)->claim().optimal()) << P << ' ' << L << ' ' << k;
  }
}

}  // namespace
}  // namespace chasqui
