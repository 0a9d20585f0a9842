// SPDX-License-Identifier: MIT
// Plan a broadcast, check it, draw it. README.md shows this file.
#include <chasqui/plan/broadcast.hpp>
#include <chasqui/show/draw.hpp>
#include <chasqui/verify/verify.hpp>
#include <cstdio>

int main() {
  using namespace chasqui;
  const LogP machine{.P = 8, .L = Time{6}, .o = Time{2}, .g = Time{4}};
  const plan::PlanPtr plan = plan::broadcast(machine);

  const Schedule schedule = plan->schedule();   // the whole schedule, as a value
  const LocalForm mine = plan->local(Rank{3});  // or what one rank does, for any P
  if (!verify(schedule).legal()) return 1;

  std::puts(show::to_text(schedule, {}).c_str());
  std::printf("rank 3 hears from rank %d\n", mine.receives.front().from.index);
  return plan->claim().optimal() ? 0 : 1;
}
