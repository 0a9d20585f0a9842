// SPDX-License-Identifier: MIT
// stranger [collective | receive]: the first thing the program does is a non-blocking collective, or to receive whatever comes. A rank
// without the drop-in library must not meet its handshake: it waits until the job is ended, and gets no value. Some ranks have the library.
#include <cstring>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  const bool receives = argc > 1 && std::strcmp(argv[1], "receive") == 0;
  long long mine[2] = {1, 1}, got[2] = {1, 1};
  MPI_Request request;
  if (receives) MPI_Irecv(got, 2, MPI_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  else MPI_Iallreduce(mine, got, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (receives || got[0] != 1 || got[1] != 1) std::fprintf(stderr, "a wrong value: %lld\n", got[0]);
  MPI_Finalize();
  return 0;
}
