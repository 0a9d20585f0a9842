// SPDX-License-Identifier: MIT
// k-item reduction: legal, as fast as the broadcast, and the verifier notices every kind of damage.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chasqui/plan/kitem.hpp"
#include "chasqui/schedule/json.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/local_equals_schedule.hpp"
#include "plan/machines.hpp"

namespace chasqui {
namespace {

TEST(KitemReduce, AsFastAsTheBroadcast) {
  for (int L = 1; L <= 6; ++L) {
    for (int P = 1; P <= 20; ++P) {
      for (int k : {1, 2, 3, 7, 15}) {
        const auto plan = plan::kitem_reduce(postal(P, L), k, Rank{P / 2});
        EXPECT_EQ(plan->claim().finish, plan::kitem(postal(P, L), k, Rank{P / 2})->claim().finish);
        EXPECT_TRUE(plan->claim().optimal());
        const Report report = verify(plan->schedule());
        ASSERT_TRUE(report.legal()) << "P=" << P << " L=" << L << " k=" << k << "\n" << to_string(report);
      }
    }
  }
}

TEST(KitemReduce, LocalFormsAreTheSchedule) {
  plan::expect_local_forms_equal_schedule(*plan::kitem_reduce(postal(23, 4), 9, Rank{5}));
  plan::expect_local_forms_equal_schedule(*plan::kitem_reduce(postal(11, 4), 3, Rank{5}, false));
}

TEST(KitemReduce, AnyMachineAndBothOperators) {
  EXPECT_TRUE(rc::check("legal, and never below the bound", [] {
    const LogP machine{*rc::gen::inRange(1, 30), Time{*rc::gen::inRange(1, 20)}, Time{*rc::gen::inRange(0, 5)},
                       Time{*rc::gen::inRange(1, 7)}};
    const auto k = *rc::gen::inRange(1, 15);
    const bool commutative = *rc::gen::arbitrary<bool>();
    const auto plan =
        plan::kitem_reduce(machine, k, Rank{*rc::gen::inRange(0, static_cast<int>(machine.P))}, commutative);
    const Report report = verify(plan->schedule());
    RC_LOG() << to_string(machine) << " k=" << k << "\n" << to_string(report);
    RC_ASSERT(report.legal());
    RC_ASSERT(plan->claim().finish >= plan->claim().bound);
  }));
}

TEST(KitemReduce, FilesKeepThem) {
  const Schedule schedule = plan::kitem_reduce(postal(6, 2), 4)->schedule();
  EXPECT_EQ(schedule_from_json(to_json(schedule), "here"), schedule);
}

TEST(KitemReduce, TheVerifierNoticesDamage) {
  const Schedule good = plan::kitem_reduce(postal(9, 3), 5, Rank{2})->schedule();
  ASSERT_TRUE(verify(good).legal());
  for (std::size_t i = 0; i < good.sends.size(); ++i) {
    Schedule bad = good;
    bad.sends.erase(bad.sends.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(verify(bad).legal()) << "message " << i << " left out";
    bad = good;
    bad.sends[i].part.lo = (bad.sends[i].part.lo + 1) % 5;
    EXPECT_FALSE(verify(bad).legal()) << "message " << i << " of another item";
    bad = good;
    bad.sends[i].part.lo = 5;
    EXPECT_FALSE(verify(bad).legal()) << "message " << i << " of no item";
  }
  Schedule unordered = good;
  unordered.problem.commutative = false;
  EXPECT_FALSE(verify(unordered).legal());
}

}  // namespace
}  // namespace chasqui
