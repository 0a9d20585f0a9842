// SPDX-License-Identifier: MIT
// MPI_THREAD_MULTIPLE: threads with a communicator each, in different orders on different ranks.
#include <thread>

#include "check.hpp"

namespace conformance {

void threads() {
  part = "threads";
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  MPI_Comm comms[2];
  for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Place me(MPI_COMM_WORLD);
  const auto work = [&](int which) {
    for (int i = 0; i < 25; ++i) {
      int mine = me.rank + which, sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[which]);
      equal("sum", sum, me.size * (me.size - 1) / 2 + which * me.size);
      int value = me.rank == 0 ? i * 10 + which : -1;
      MPI_Bcast(&value, 1, MPI_INT, 0, comms[which]);
      equal("value", value, i * 10 + which);
      std::vector<int> all(index(300 * me.size)), part_of(300, me.rank * 2 + which);
      MPI_Allgather(part_of.data(), 300, MPI_INT, all.data(), 300, MPI_INT, comms[which]);
      equal("gathered", all.back(), 2 * (me.size - 1) + which);
      if (i % 8 != 0) continue;
      MPI_Comm brief;  // made and freed beside the other thread's collectives
      MPI_Comm_dup(comms[which], &brief);
      for (int k = 0; k < 2; ++k) MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, brief);
      equal("largest", sum, me.size - 1 + which);
      MPI_Comm_free(&brief);
    }
  };
  std::thread other(work, me.rank % 2);
  work(1 - me.rank % 2);
  other.join();
  for (auto& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace conformance
