// SPDX-License-Identifier: MIT
#include "chasqui/plan/allgather.hpp"

#include <gtest/gtest.h>

#include <set>

#include "chasqui/base/error.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/exchange/symmetric_times.hpp"
#include "plan/legal_times.hpp"
#include "plan/machines.hpp"
#include "plan/referee.hpp"
#include "plan/same_as_local.hpp"
#include "sweep.hpp"

namespace chasqui {
namespace {

TEST(Allgather, IsOptimalOnPostalMachines) {
  for (std::int64_t P = 2; P <= 20; ++P) {
    for (std::int64_t L = 1; L <= 8; ++L) {
      for (std::int64_t k = 1; k <= 4; ++k) {
        const auto plan = plan::allgather(LogP::postal(P, Time{L}), k);
        EXPECT_EQ(plan->claim().finish, Time{L + k * (P - 1) - 1});
        EXPECT_TRUE(plan->claim().optimal());
        ASSERT_TRUE(verify(plan->schedule()).legal()) << to_string(plan->machine()) << " k=" << k;
      }
    }
  }
}

TEST(Allgather, IsLegalOnStrictMachines) {
  std::set<std::string> kinds;
  Sweep sweep;
  for (std::int64_t P : {1, 2, 3, 4, 5, 7, 9, 12, 16, 33, 35, 37, 58}) {
    for (std::int64_t L : {0, 1, 2, 3, 9, 20}) {
      for (std::int64_t o : {0, 1, 2, 5}) {
        for (std::int64_t g : {1, 2, 4, 9}) {
          for (std::int64_t k : {1, 3}) {
            const LogP m = machine(P, L, o, g);
            if (L + o == 0) continue;
            const auto plan = plan::allgather(m, k);
            const std::string& how = plan->claim().construction;
            const auto over = how.find(" ranks over");
            kinds.insert(how.substr(0, 4) + (how.find("slot") != std::string::npos ? " slot" : "") +
                         (over == std::string::npos ? ""
                          : how[over - 1] < '2'     ? how.substr(over - 2, 2)
                                                    : " rest"));
            if (!sweep.takes_next()) continue;
            const Schedule schedule = plan->schedule();
            ASSERT_TRUE(verify(schedule).legal()) << to_string(m) << " k=" << k << ' ' << how;
            if (P <= 16) {
              ASSERT_EQ(referee::judge(schedule), "") << to_string(m) << " k=" << k << ' ' << how;
            }
            ASSERT_GE(plan->claim().finish, plan->claim().bound) << to_string(m);
            ASSERT_TRUE(same_as_local(*plan)) << to_string(m) << " k=" << k << ' ' << how;
          }
        }
      }
    }
  }
  EXPECT_EQ(kinds,
            (std::set<std::string>{"matc", "ring 0", "ring 1", "ring rest", "ring slot", "symm"}));  // all were tried
}

TEST(Allgather, MeetsTheExactValues) {
  struct Row {
    std::int64_t P, L, o, g, exact;
  };
  for (const Row& row : {Row{3, 1, 1, 2, 6}, Row{4, 6, 2, 4, 20}, Row{5, 2, 1, 1, 10}, Row{4, 2, 2, 2, 14},
                         Row{6, 1, 1, 2, 12}, Row{4, 2, 1, 3, 11}, Row{5, 1, 1, 2, 11}, Row{5, 3, 2, 4, 22}}) {
    const auto plan = plan::allgather(machine(row.P, row.L, row.o, row.g));
    EXPECT_EQ(plan->claim().finish, Time{row.exact}) << to_string(plan->machine());
    EXPECT_LE(plan->claim().bound, Time{row.exact}) << to_string(plan->machine());
  }
}

/// One rank, n sends and n receptions, by exhaustion: can it be done by T? A state is the instant, the counts
/// left and when the next send and the next reception may begin.
bool one_rank_fits(const plan::Spacing& s, int n, std::int64_t T, std::int64_t t, int sends, int receptions,
                   std::int64_t send_from, std::int64_t receive_from,
                   std::set<std::tuple<std::int64_t, int, int, std::int64_t, std::int64_t>>& failed) {
  if (sends == 0 && receptions == 0) return true;
  if (t > T) return false;
  const auto key = std::tuple{t, sends, receptions, std::max(send_from, t), std::max(receive_from, t)};
  if (failed.contains(key)) return false;
  const std::int64_t o = s.overheads() / 2;
  if (sends > 0 && t >= send_from && t + s.D <= T &&
      one_rank_fits(s, n, T, t + o, sends - 1, receptions, t + s.G, receive_from, failed)) {
    return true;
  }
  if (receptions > 0 && t >= receive_from && t + o <= T &&
      one_rank_fits(s, n, T, t + o, sends, receptions - 1, send_from, t + s.G, failed)) {
    return true;
  }
  if (one_rank_fits(s, n, T, t + 1, sends, receptions, send_from, receive_from, failed)) return true;
  failed.insert(key);
  return false;
}

TEST(AllgatherBound, IsWhatOneRankNeeds) {
  for (int n = 1; n <= 6; ++n) {
    for (std::int64_t L : {0, 1, 2, 3, 5, 8}) {
      for (std::int64_t o : {1, 2, 3}) {
        for (std::int64_t g : {1, 2, 3, 4, 5, 7}) {
          const LogP m = machine(n + 1, L, o, g);
          const plan::Spacing s(m);
          const std::int64_t bound = plan::allgather_bound(m).ticks;
          std::set<std::tuple<std::int64_t, int, int, std::int64_t, std::int64_t>> failed;
          EXPECT_FALSE(one_rank_fits(s, n, bound - 1, 0, n, n, 0, L + o, failed)) << to_string(m);
          failed.clear();
          EXPECT_TRUE(one_rank_fits(s, n, bound, 0, n, n, 0, L + o, failed)) << to_string(m);
        }
      }
    }
  }
}

void best_last(const plan::Spacing& s, std::size_t n, plan::SendTimes& times, std::int64_t& best) {
  if (times.size() == n) {
    best = std::min(best, times.back());
    return;
  }
  for (std::int64_t t = times.back() + s.G; t < best && t <= times.back() + s.longest_wait(); ++t) {
    if (!plan::legal_after(times, s, t)) continue;
    times.push_back(t);
    best_last(s, n, times, best);
    times.pop_back();
  }
}

TEST(SymmetricTimes, AreTheBestOfAll) {
  for (std::int64_t n : {1, 2, 3, 5, 7}) {
    for (std::int64_t L : {0, 1, 2, 3, 5, 7}) {
      for (std::int64_t o : {1, 2, 3}) {
        for (std::int64_t g : {1, 2, 3, 5}) {
          const LogP m = machine(n + 1, L, o, g);
          const plan::Spacing s(m);
          plan::SendTimes times = {0};
          std::int64_t best = n * s.longest_wait();
          best_last(s, static_cast<std::size_t>(n), times, best);
          EXPECT_EQ(plan::symmetric_times(m, n).last(), n == 1 ? 0 : best) << to_string(m);
        }
      }
    }
  }
}

TEST(SymmetricTimes, StayLegalWhenACycleIsRepeated) {
  for (std::int64_t L : {0, 3, 10, 31, 64}) {
    for (std::int64_t o : {1, 2, 5, 9}) {
      for (std::int64_t g : {1, 3, 7, 12}) {
        const LogP m = machine(2, L, o, g);
        const plan::SymmetricTimes formula = plan::symmetric_times(m, 700);
        plan::SendTimes times;
        for (std::int64_t i = 0; i < formula.count(); ++i) times.push_back(formula.at(i));
        ASSERT_TRUE(plan::legal(times, plan::Spacing(m))) << to_string(m);
      }
    }
  }
}

TEST(Allgather, WorksFarOut) {
  for (std::int64_t P : {999'983, 1'000'000}) {
    for (const LogP& m : {machine(P, 5'000'000, 2'000, 4'000), machine(P, 100, 700'000'000, 300'000'000),
                          machine(P, 7'000'000'000, 900, 1'000), LogP::postal(P, Time{1'000'000'000'000})}) {
      const auto plan = plan::allgather(m);
      EXPECT_GE(plan->claim().finish, plan->claim().bound) << to_string(m);
      const LocalForm local = plan->local(Rank{static_cast<std::int32_t>(P / 3)});
      EXPECT_EQ(local.sends.size() + local.receives.size(), static_cast<std::size_t>(2 * (P - 1))) << to_string(m);
    }
  }
}

TEST(Allgather, SaysWhatIsTooMuch) {
  EXPECT_THROW(plan::allgather(machine(4, 1, 1, 1), 0), Error);
  EXPECT_THROW(plan::allgather(machine(1'000'000, 1, 1, 1), 1'000'000), Error);
  EXPECT_THROW(plan::allgather(machine(2'000'000'000, 1, 1'000'000'000'000, 1)), Error);
}

}  // namespace
}  // namespace chasqui
