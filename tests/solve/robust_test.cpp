// SPDX-License-Identifier: MIT
#include "chasqui/solve/robust.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/stream.hpp"
#include "chasqui/plan/universal_tree.hpp"
#include "chasqui/verify/verify.hpp"

namespace chasqui::solve {
namespace {

/// Item by item along the universal tree, a new item whenever the last one has left everybody's hands: never in its own way.
Schedule one_after_another(std::int64_t P, std::int64_t L, std::int64_t k) {
  Schedule schedule;
  schedule.machine = LogP::postal(P, Time{L});
  schedule.problem = {.kind = Kind::broadcast, .items = k};
  schedule.bound = Time{0};
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t r = 1; r < P; ++r) {
      schedule.sends.push_back(send_item(Time{(i * (P - 1) + r - 1)}, Rank{0}, Rank{static_cast<std::int32_t>(r)},
                                         static_cast<std::int32_t>(i)));
    }
  }
  schedule.finish = Time{k * (P - 1) - 1 + L};
  normalise(schedule);
  return schedule;
}

TEST(Enumerate, FindsEverySmallBroadcastOnceAndOnlyLegalOnes) {
  // P = 3, L = 1, one item: the root sends twice, or the first receiver sends on. Nothing faster than 2.
  const LogP machine = LogP::postal(3, Time{1});
  int count = 0;
  EXPECT_TRUE(for_each_broadcast(machine, 1, Time{2}, [&](const Schedule& schedule) {
    EXPECT_TRUE(verify(schedule).legal()) << to_string(verify(schedule));
    ++count;
    return true;
  }));
  EXPECT_EQ(count, 2);
  EXPECT_TRUE(for_each_broadcast(machine, 1, Time{1}, [](const Schedule&) { return ADD_FAILURE(), true; }));
  EXPECT_FALSE(for_each_broadcast(machine, 1, Time{3}, [](const Schedule&) { return false; }));
}

TEST(Robust, TheResultIsLegalAndNoWorseThanAnyCandidate) {
  for (std::int64_t P = 3; P <= 4; ++P) {
    for (std::int64_t L = 2; L <= 3; ++L) {
      const std::vector<Candidate> candidates = {{"from the root", one_after_another(P, L, 2)}};
      const RobustSchedule robust = most_robust(candidates, {.mutations = 100, .schedules = 3000, .progress = {}});
      EXPECT_TRUE(verify(robust.schedule).legal()) << to_string(verify(robust.schedule));
      EXPECT_LE(robust.worst.finish(), worst_case(candidates[0].schedule).finish());
      EXPECT_EQ(replay(robust.schedule, robust.worst).finish, robust.worst.finish());
    }
  }
}

TEST(Robust, SmallInstancesAreProved) {
  const RobustSchedule robust = most_robust({{"from the root", one_after_another(3, 2, 2)}}, {.progress = {}});
  EXPECT_TRUE(robust.proved) << robust.how;
  EXPECT_TRUE(robust.worst.exact);
}

TEST(Robust, CandidatesMustSolveOneProblem) {
  EXPECT_THROW(most_robust({}, {}), Error);
  EXPECT_THROW(most_robust({{"a", one_after_another(3, 2, 2)}, {"b", one_after_another(3, 2, 3)}}, {}), Error);
  Schedule strict = one_after_another(3, 2, 2);
  strict.machine.o = Time{1};
  EXPECT_THROW(most_robust({{"strict", strict}}, {}), Error);
}

}  // namespace
}  // namespace chasqui::solve
