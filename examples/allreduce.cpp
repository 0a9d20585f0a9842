// SPDX-License-Identifier: MIT
// An all-reduce between the threads of this process: every rank gives a number, every rank gets the sum.
#include <chasqui/threads/team.hpp>
#include <cstdio>

int main() {
  chasqui::threads::Team team(4);  // four threads of this process
  team.run([](chasqui::run::Comm& comm) {
    const int sum = comm.allreduce(comm.rank() + 1);
    if (comm.rank() == 0) std::printf("the sum of %d ranks is %d\n", comm.size(), sum);
  });
}
