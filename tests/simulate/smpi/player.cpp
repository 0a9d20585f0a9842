// SPDX-License-Identifier: MIT
// Plays one schedule as a plain MPI program under SimGrid: every rank sends and receives in its planned order, blocking.
// Input: lines "rank send|recv peer tag", in order. Rank 0 prints the latest finish in seconds after a common start.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  struct Operation {
    bool send;
    int peer;
    int tag;
  };
  std::vector<Operation> operations;
  std::ifstream file(argv[1]);
  int rank = 0;
  std::string kind;
  for (Operation operation{}; file >> rank >> kind >> operation.peer >> operation.tag;) {
    operation.send = kind == "send";
    if (rank == self) operations.push_back(operation);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = 10.0;  // simulated seconds, long after the barrier
  const double wait = start - MPI_Wtime();
  timespec pause{};
  pause.tv_sec = static_cast<time_t>(wait);
  pause.tv_nsec = static_cast<long>((wait - static_cast<double>(pause.tv_sec)) * 1e9);
  nanosleep(&pause, nullptr);

  double value = 1;
  for (const Operation& operation : operations) {
    if (operation.send) {
      MPI_Send(&value, 1, MPI_DOUBLE, operation.peer, operation.tag, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&value, 1, MPI_DOUBLE, operation.peer, operation.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  const double finish = MPI_Wtime() - start;
  double latest = 0;
  MPI_Reduce(&finish, &latest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (self == 0) std::printf("finish %.12f\n", latest);
  MPI_Finalize();
  return 0;
}
