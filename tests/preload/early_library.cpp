// SPDX-License-Identifier: MIT
// A library whose constructor begins MPI: before the program, and before a library that was preloaded.
#include <mpi.h>

namespace {

struct Session {
  Session() { MPI_Init(nullptr, nullptr); }
  ~Session() { MPI_Finalize(); }
} session;

}  // namespace

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
