// SPDX-License-Identifier: MIT
// Calls that come in another order on each rank, and may: those that the MPI library makes for itself, persistent ones that are
// started. `orders LEVELS`: rank 0 asks for MPI_THREAD_MULTIPLE, the others do not.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "persistent_names.hpp"

namespace {

int rank = 0, size = 1;

void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int sum_of(int mine) {
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// MPI_Comm_idup goes on while ranks wait in other calls, each at its own pace.
void beside_a_new_communicator() {
  for (int round = 0; round < 20; ++round) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    if ((round + rank) % 3 == 0) usleep(500);
    for (int i = 0; i < 3; ++i) expect(sum_of(i + 1) == size * (i + 1), "a sum while a communicator is made");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
  }
}

void started_in_any_order() {
  int in[2] = {1, 100}, out[2] = {0, 0};
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    MPIX_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
  }
  for (int round = 0; round < 20; ++round) {
    const int first = (rank + round) % 2;
    out[0] = out[1] = 0;
    MPI_Start(&requests[first]);
    MPI_Start(&requests[1 - first]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(out[0] == size && out[1] == 100 * size, "two that were started in different orders");
  }
  for (int round = 0; round < 20; ++round) {  // a blocking call before or after the start
    out[0] = 0;
    if ((rank + round) % 2 == 0) MPI_Start(&requests[0]);
    expect(sum_of(7) == 7 * size, "a sum beside one that is started");
    if ((rank + round) % 2 != 0) MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(out[0] == size, "one that is started beside a sum");
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void in_one_order() {
  int mine = rank + 1, sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == size * (size + 1) / 2, "a sum that goes on by itself");
}

}  // namespace

int main(int argc, char** argv) {
  const bool levels = argc > 1 && std::strcmp(argv[1], "LEVELS") == 0;
  const char* const text = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool first = text != nullptr && std::atoi(text) == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, levels && first ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  in_one_order();
  beside_a_new_communicator();
  started_in_any_order();
  if (rank == 0) std::printf("orders of their own on %d ranks: right\n", size);
  MPI_Finalize();
}
