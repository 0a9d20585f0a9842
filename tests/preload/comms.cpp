// SPDX-License-Identifier: MIT
// comms ROUNDS: threads that make, duplicate, use and free communicators of their own, each kind of thread in another
// way, while others are in collectives: all that MPI_THREAD_MULTIPLE allows, and hard for the MPI library already.
#include <thread>

#include "check.hpp"

namespace {

using namespace conformance;

void use(MPI_Comm comm, int round) {
  const Place me(comm);
  for (int i = 0; i < 3; ++i) {
    int mine = me.rank + round, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    equal("sum", sum, me.size * (me.size - 1) / 2 + round * me.size);
    int value = me.rank == i % me.size ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, i % me.size, comm);
    equal("value", value, round);
  }
}

/// In every second round all make theirs of MPI_COMM_WORLD at the same time, told apart by a tag.
MPI_Comm make(int thread, MPI_Comm parent, int round) {
  const int how = round % 2 == 0 ? 2 : thread;
  if (how == 2) parent = MPI_COMM_WORLD;
  const Place me(parent);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Group group;
  switch (how) {
    case 0: MPI_Comm_dup(parent, &made); break;
    case 1:
      MPI_Comm_idup(parent, &made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2: {  // of some ranks, by these alone
      const int last = round % 4 < 2 ? me.size / 2 : me.size - 1;
      int range[1][3] = {{0, last, 1}};
      if (me.rank > last) return made;
      MPI_Group all;
      MPI_Comm_group(parent, &all);
      MPI_Group_range_incl(all, 1, range, &group);
      MPI_Comm_create_group(parent, group, thread, &made);
      MPI_Group_free(&group);
      MPI_Group_free(&all);
      break;
    }
    default: MPI_Comm_split(parent, me.rank % 2, -me.rank, &made);
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kThreads = 4;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  const Place me(MPI_COMM_WORLD);
  part = "threads that make communicators";
  if (level < MPI_THREAD_MULTIPLE) fail("level of threads", level, MPI_THREAD_MULTIPLE);
  MPI_Comm parents[kThreads];
  for (auto& parent : parents) MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        MPI_Comm made = make(t, parents[t], round);
        if (round % 2 != 0) use(parents[t], round);
        if (made == MPI_COMM_NULL) continue;
        MPI_Barrier(made);
        if (round % 2 != 0) use(made, round);
        MPI_Comm_free(&made);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& parent : parents) MPI_Comm_free(&parent);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me.rank == 0) std::printf("%d rounds of %d threads: right\n", rounds, kThreads);
  MPI_Finalize();
  return 0;
}
