// SPDX-License-Identifier: MIT
// stranger: the first collective of the program is non-blocking. A rank without the drop-in library must not meet its
// handshake: it waits until the job is ended, and gets no value. Half of the ranks have the library.
#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  long long mine[2] = {1, 1}, sum[2] = {0, 0};
  MPI_Request request;
  MPI_Iallreduce(mine, sum, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum[0] != 1 || sum[1] != 1) std::fprintf(stderr, "a wrong value: %lld\n", sum[0]);
  MPI_Finalize();
  return 0;
}
