// SPDX-License-Identifier: MIT
// One header and one target: a plan that is checked, and a sum over threads.
#include <chasqui/chasqui.hpp>
#include <cstdio>

int main() {
  using namespace chasqui;
  const auto plan = plan::make_plan({.machine = {8, {6}, {2}, {4}}, .problem = {.kind = Kind::allreduce}});
  if (!verify(plan->schedule()).legal()) return 1;
  threads::Team(2).run([](run::Comm& comm) {
    const int sum = comm.allreduce(comm.rank() + 1);
    if (comm.rank() == 0) std::printf("everyday: sum %d\n", sum);
  });
  return 0;
}
