// SPDX-License-Identifier: MIT
// Random machines far too large to materialise: one rank's part keeps the rules at that rank, and agrees with
// the parts of its partners.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "chasqui/base/error.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/scan.hpp"

namespace chasqui {
namespace {

std::int64_t spread(std::int64_t low, std::int64_t most_bits) {
  const auto bits = *rc::gen::inRange<std::int64_t>(1, most_bits + 1);
  return low + *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bits);
}

bool spaced(const std::vector<std::int64_t>& begins, std::int64_t apart) {
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (begins[i] - begins[i - 1] < apart) return false;
  }
  return true;
}

/// Rules 2, 3 and 4 at one rank.
bool keeps_rules(const LogP& m, const LocalForm& local) {
  std::vector<std::int64_t> sends, receives, both;
  for (const Send& s : local.sends) sends.push_back(s.begin.ticks);
  for (const Send& s : local.receives) receives.push_back(reception_begin(m, s).ticks);
  std::merge(sends.begin(), sends.end(), receives.begin(), receives.end(), std::back_inserter(both));
  return spaced(sends, m.gap().ticks) && spaced(receives, m.gap().ticks) && spaced(both, m.o.ticks);
}

bool contains(const std::vector<Send>& sorted, const Send& send) {
  return std::binary_search(sorted.begin(), sorted.end(), send);
}

void check(const plan::Plan& plan, Rank rank, std::size_t partners) {
  const LocalForm mine = plan.local(rank);
  RC_ASSERT(plan.claim().finish >= plan.claim().bound);
  RC_ASSERT(keeps_rules(plan.machine(), mine));
  for (std::size_t i = 0; i < std::min(partners, mine.sends.size()); ++i) {
    const Send& send =
        mine.sends[i * (mine.sends.size() - 1) / std::max<std::size_t>(1, partners - 1) % mine.sends.size()];
    RC_ASSERT(contains(plan.local(send.to).receives, send));
  }
  for (std::size_t i = 0; i < std::min(partners, mine.receives.size()); ++i) {
    RC_ASSERT(contains(plan.local(mine.receives[i].from).sends, mine.receives[i]));
  }
}

TEST(HugeAllToAll, CombiningPlans) {
  EXPECT_TRUE(rc::check("allreduce, scan, barrier", [] {
    const LogP m{spread(1, 30), Time{spread(1, 40)}, Time{spread(0, 40)}, Time{spread(1, 40)}};
    RC_PRE(std::min(m.P, m.L.ticks / m.gap().ticks) < 50'000);  // rounds of one rank, in a fast test
    const Rank rank{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, m.P))};
    check(*plan::allreduce(m, *rc::gen::arbitrary<bool>()), rank, 4);
    check(*plan::scan(m, *rc::gen::arbitrary<bool>()), rank, 4);
    check(*plan::barrier(m), rank, 4);
  }));
}

TEST(HugeAllToAll, Allgather) {
  EXPECT_TRUE(rc::check("allgather", [] {
    const LogP m{spread(2, 13), Time{spread(1, 40)}, Time{spread(0, 40)}, Time{spread(1, 40)}};
    const auto plan = plan::allgather(m, *rc::gen::inRange<std::int64_t>(1, 3));
    check(*plan, Rank{static_cast<std::int32_t>(*rc::gen::inRange<std::int64_t>(0, m.P))}, 2);
  }));
}

}  // namespace
}  // namespace chasqui
