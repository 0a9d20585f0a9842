// SPDX-License-Identifier: MIT
// Random machines: every all-to-all plan is legal, keeps its claim, and its local forms make up its schedule.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "chasqui/base/arithmetic.hpp"
#include "chasqui/plan/allgather.hpp"
#include "chasqui/plan/allreduce.hpp"
#include "chasqui/plan/barrier.hpp"
#include "chasqui/plan/scan.hpp"
#include "chasqui/verify/verify.hpp"
#include "plan/exchange/allgather_ring.hpp"
#include "plan/same_as_local.hpp"

namespace chasqui {
namespace {

LogP random_machine(std::int64_t most_ranks) {
  const auto scale = *rc::gen::element<std::int64_t>(1, 1, 1000, 1'000'000'007);
  LogP m;
  m.P = *rc::gen::inRange<std::int64_t>(1, most_ranks + 1);
  m.o = Time{*rc::gen::inRange<std::int64_t>(0, 8) * scale};
  m.L = Time{*rc::gen::inRange<std::int64_t>(m.o.ticks == 0 ? 1 : 0, 40) * scale};
  m.g = Time{*rc::gen::inRange<std::int64_t>(1, 16) * scale};
  return m;
}

void check(const plan::Plan& plan) {
  const Schedule schedule = plan.schedule();
  RC_ASSERT(verify(schedule).legal());
  RC_ASSERT(plan.claim().finish >= plan.claim().bound);
  RC_ASSERT(same_as_local(plan));
}

TEST(AllToAll, CombiningPlansOnRandomMachines) {
  EXPECT_TRUE(rc::check("allreduce, scan, barrier", [] {
    const LogP m = random_machine(90);
    check(*plan::allreduce(m, *rc::gen::arbitrary<bool>()));
    check(*plan::scan(m, *rc::gen::arbitrary<bool>()));
    check(*plan::barrier(m));
  }));
}

TEST(AllToAll, AllgatherOnRandomMachines) {
  EXPECT_TRUE(rc::check("allgather", [] {
    const LogP m = random_machine(40);
    check(*plan::allgather(m, *rc::gen::inRange<std::int64_t>(1, 4)));
  }));
}

/// Every ring, not only the one that is chosen.
TEST(AllToAll, EveryRingOnRandomMachines) {
  EXPECT_TRUE(rc::check("rings", [] {
    const LogP m = random_machine(45);
    RC_PRE(m.P >= 2);
    const auto classes = *rc::gen::inRange<std::int64_t>(2, m.P + 1);
    const Problem problem{.kind = Kind::allgather, .items = *rc::gen::inRange<std::int64_t>(1, 4)};
    const auto ring = plan::ring_shape(m, problem.items, classes, kSaturated);
    RC_ASSERT(ring.has_value());
    RC_ASSERT(ring->rest == m.P % classes);
    const plan::Claim claim{Time{ring->last_send()} + m.lambda(), plan::allgather_bound(m, problem.items), "", ""};
    check(*plan::ring_allgather(m, problem, claim, *ring));
  }));
}

}  // namespace
}  // namespace chasqui
