// SPDX-License-Identifier: MIT
// Cutting long messages: the search against trying every number of segments, and the plan through the verifier.
#include "chasqui/plan/segments.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/kitem.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui {
namespace {

TEST(Segments, ASegmentIsAMessage) {
  const LogGP machine{{4, Time{10}, Time{2}, Time{3}}, 1, 4};
  EXPECT_EQ(segment_machine(machine, 1), machine.base);
  const LogP nine = segment_machine(machine, 9);  // 8 bytes more, 2 ticks
  EXPECT_EQ(nine.L.ticks, 12);
  EXPECT_EQ(nine.g.ticks, 5);
  EXPECT_THROW(validate(LogGP{machine.base, -1, 1}), Error);
  EXPECT_THROW(validate(LogGP{machine.base, 1, 0}), Error);
  EXPECT_THROW(plan::choose_segments(machine, 0), Error);
}

TEST(Segments, NoNumberOfSegmentsIsBetter) {
  for (const LogGP& machine :
       {LogGP{{8, Time{20}, Time{2}, Time{4}}, 1, 2}, LogGP{{17, Time{5}, Time{0}, Time{1}}, 3, 1},
        LogGP{{30, Time{50}, Time{7}, Time{3}}, 1, 10}}) {
    for (std::int64_t bytes : {1, 7, 100, 300}) {
      const auto choice = plan::choose_segments(machine, bytes);
      const auto plan = plan::broadcast_bytes(machine, bytes);
      EXPECT_EQ(plan->claim().finish, choice.best.finish);
      EXPECT_EQ(plan->problem().items, choice.best.segments);
      EXPECT_TRUE(verify(plan->schedule()).legal());
      for (std::int64_t k = 1; k <= bytes; ++k) {
        const std::int64_t size = (bytes + k - 1) / k;
        if ((bytes + size - 1) / size != k) continue;
        EXPECT_GE(plan::kitem(segment_machine(machine, size), k)->claim().finish, choice.best.finish)
            << to_string(machine) << " bytes=" << bytes << " k=" << k;
      }
    }
  }
}

TEST(Segments, TheFormulaIsNear) {
  const LogGP machine{{32, Time{2000}, Time{300}, Time{400}}, 1, 4};
  const auto choice = plan::choose_segments(machine, 1'000'000);
  EXPECT_GT(static_cast<double>(choice.best.segments), choice.formula / 3);
  EXPECT_LT(static_cast<double>(choice.best.segments), choice.formula * 3);
  EXPECT_NE(plan::explain(machine, 1'000'000, choice).find("formula"), std::string::npos);
}

}  // namespace
}  // namespace chasqui
