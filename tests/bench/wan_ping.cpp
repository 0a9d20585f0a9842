// SPDX-License-Identifier: MIT
// wan_ping [forever]: the first rank and the first of the second half send each other a message and wait for the answer.
// Every rank says its host and its network namespace, rank 0 the shortest round trip, and then DONE. With an argument it
// goes on until it is ended.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace {

void say_place(int rank) {
  char host[256] = {};
  char name_space[256] = {};
  if (gethostname(host, sizeof host - 1) != 0 || readlink("/proc/self/ns/net", name_space, sizeof name_space - 1) < 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::printf("rank %d on %s in %s\n", rank, host, name_space);
  std::fflush(stdout);
}

/// Seconds from a message to its answer, on the side that asks.
double round_trip(int other, bool asks) {
  const double start = MPI_Wtime();
  if (asks) MPI_Send(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  MPI_Recv(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!asks) MPI_Send(nullptr, 0, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  say_place(rank);
  const int partner = ranks / 2;
  double shortest = std::numeric_limits<double>::max();
  if (rank == 0 || rank == partner) {
    for (int i = 0; i < 20 || argc > 1; ++i) shortest = std::min(shortest, round_trip(partner - rank, rank == 0));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("round trip %.1f us\nDONE\n", shortest * 1e6);
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
