// SPDX-License-Identifier: MIT
// Latency 1: the closed form for every P, through the verifier; local forms against the schedule; huge machines.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "chasqui/plan/kitem.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/items/hypercube.hpp"
#include "plan/local_equals_schedule.hpp"
#include "sweep.hpp"

namespace chasqui {
namespace {

std::int64_t rounds_by_definition(std::int64_t P, std::int64_t k) {
  std::int64_t rounds = 0;
  for (std::int64_t reached = 1; reached < P; reached *= 2) ++rounds;
  return k - 1 + rounds;
}

plan::PlanPtr telephone(std::int64_t P, std::int64_t k, Rank root = {}) {
  const LogP machine = LogP::postal(P, Time{1});
  const Problem problem{.kind = Kind::broadcast, .root = root, .items = k};
  const Time finish{plan::kernel::telephone_last_step(P, k) + 1};
  return plan::kernel::telephone_plan(machine, problem, {finish, plan::kitem_bound(machine, k), "", ""}, Time{1});
}

TEST(Telephone, EveryPTo300MeetsTheBound) {
  Sweep sweep;
  for (std::int64_t P = 2; P <= 300; ++P) {
    for (std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 31}) {
      const auto plan = telephone(P, k);
      ASSERT_EQ(plan->claim().finish.ticks, rounds_by_definition(P, k)) << P << ' ' << k;
      ASSERT_TRUE(plan->claim().optimal()) << P << ' ' << k;
      if (!sweep.takes_next()) continue;
      const Report report = verify(plan->schedule());
      ASSERT_TRUE(report.legal()) << "P=" << P << " k=" << k << "\n" << to_string(report);
    }
  }
}

TEST(Telephone, EveryKTo40OnSmallMachines) {
  Sweep sweep;
  for (std::int64_t P = 2; P <= 34; ++P) {
    for (std::int64_t k = 1; k <= 40; ++k) {
      if (!sweep.takes_next()) continue;
      const auto plan = telephone(P, k, Rank{static_cast<std::int32_t>(P / 2)});
      const Report report = verify(plan->schedule());
      ASSERT_TRUE(report.legal()) << "P=" << P << " k=" << k << "\n" << to_string(report);
    }
  }
}

TEST(Telephone, LocalFormsAreTheSchedule) {
  for (std::int64_t P = 2; P <= 70; ++P) {
    for (std::int64_t k : {1, 2, 6, 13}) {
      plan::expect_local_forms_equal_schedule(*telephone(P, k, Rank{static_cast<std::int32_t>(P - 1)}));
    }
  }
}

TEST(Telephone, RandomBeyond) {
  EXPECT_TRUE(rc::check("legal and at the bound", [] {
    const auto P = *rc::gen::inRange(300, 5000);
    const auto k = *rc::gen::inRange(1, 60);
    const auto plan = telephone(P, k, Rank{*rc::gen::inRange(0, P)});
    RC_LOG() << "P=" << P << " k=" << k << "\n";
    RC_ASSERT(plan->claim().optimal());
    const Report report = verify(plan->schedule());
    RC_LOG() << to_string(report);
    RC_ASSERT(report.legal());
  }));
}

// Ranks of a machine too large to write down: what one receives, its partner sends, and it has everything it passes on.
TEST(Telephone, RandomHugeFromLocalForms) {
  EXPECT_TRUE(rc::check("one rank and its partners agree", [] {
    const auto P = *rc::gen::inRange<std::int64_t>(5000, 2'147'483'648);
    const auto k = *rc::gen::inRange(1, 80);
    const Rank root{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, P))};
    const Rank rank{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, P))};
    const auto plan = plan::kitem(LogP::postal(P, Time{1}), k, root);
    RC_ASSERT(plan->claim().optimal());
    const LocalForm form = plan->local(rank);
    std::map<std::int32_t, Time> since;
    std::set<Time> busy;
    for (const Send& send : form.receives) {
      RC_ASSERT(since.emplace(send.part.lo, send.begin + Time{1}).second);
      RC_ASSERT(busy.insert(send.begin).second);
      RC_ASSERT(send.begin < plan->claim().finish);
      const auto sends = plan->local(send.from).sends;
      RC_ASSERT(std::count(sends.begin(), sends.end(), send) == 1);
    }
    RC_ASSERT(static_cast<int>(since.size()) == (rank == root ? 0 : k));
    busy.clear();
    for (const Send& send : form.sends) {
      RC_ASSERT(busy.insert(send.begin).second);
      if (rank != root) RC_ASSERT(since.contains(send.part.lo) && since[send.part.lo] <= send.begin);
      const auto receives = plan->local(send.to).receives;
      RC_ASSERT(std::count(receives.begin(), receives.end(), send) == 1);
    }
  }));
}

TEST(Telephone, IsWhatKitemUsesBeyondTheTable) {
  for (auto machine : {LogP::postal(1000, Time{1}), LogP{777, Time{5}, Time{0}, Time{5}}}) {
    const auto plan = plan::kitem(machine, 20, Rank{3});
    EXPECT_TRUE(plan->claim().optimal()) << plan->claim().construction;
    EXPECT_NE(plan->claim().construction.find("hypercube"), std::string::npos) << plan->claim().construction;
    EXPECT_TRUE(verify(plan->schedule()).legal());
  }
}

}  // namespace
}  // namespace chasqui
