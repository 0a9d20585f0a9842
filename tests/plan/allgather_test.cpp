// SPDX-License-Identifier: MIT
#include "chasqui/plan/allgather.hpp"

#include <gtest/gtest.h>

#include "plan/referee.hpp"
#include "plan/same_as_local.hpp"

namespace chasqui {
namespace {

LogP machine(std::int64_t P, std::int64_t L, std::int64_t o, std::int64_t g) { return {P, Time{L}, Time{o}, Time{g}}; }

TEST(Allgather, IsOptimalOnPostalMachines) {
  for (std::int64_t P = 2; P <= 20; ++P) {
    for (std::int64_t L = 1; L <= 8; ++L) {
      for (std::int64_t k = 1; k <= 4; ++k) {
        const auto plan = plan::allgather(LogP::postal(P, Time{L}), k);
        EXPECT_EQ(plan->claim().finish, Time{L + k * (P - 1) - 1});
        EXPECT_TRUE(plan->claim().optimal());
        ASSERT_EQ(referee::judge(plan->schedule()), "") << to_string(plan->machine()) << " k=" << k;
      }
    }
  }
}

TEST(Allgather, IsLegalOnStrictMachines) {
  for (std::int64_t P : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16}) {
    for (std::int64_t L : {0, 1, 2, 3, 5, 9, 20}) {
      for (std::int64_t o : {0, 1, 2, 5}) {
        for (std::int64_t g : {1, 2, 3, 4, 9}) {
          for (std::int64_t k : {1, 3}) {
            const LogP m = machine(P, L, o, g);
            if (L + o == 0) continue;
            const auto plan = plan::allgather(m, k);
            ASSERT_EQ(referee::judge(plan->schedule()), "") << to_string(m) << " k=" << k << ' ' << plan->claim().construction;
            ASSERT_GE(plan->claim().finish, plan->claim().bound) << to_string(m);
            ASSERT_TRUE(same_as_local(*plan)) << to_string(m) << " k=" << k;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace chasqui
