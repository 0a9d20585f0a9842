// SPDX-License-Identifier: MIT
// What one rank of a billion does in an all-reduce, without building the schedule.
#include <chasqui/plan/allreduce.hpp>
#include <cstdio>

int main() {
  using namespace chasqui;
  const LogP machine = LogP::postal(1'000'000'000, Time{10});
  const plan::PlanPtr plan = plan::allreduce(machine);
  const LocalForm mine = plan->local(Rank{123'456'789});
  for (const Send& send : mine.sends) {
    std::printf("at %lld send the fold of %d ranks to %d\n", static_cast<long long>(send.begin.ticks), send.part.len,
                send.to.index);
  }
  std::printf("all done at %lld\n", static_cast<long long>(plan->claim().finish.ticks));
  return mine.sends.size() == mine.receives.size() ? 0 : 1;
}
