// SPDX-License-Identifier: MIT
// What a user preloads: it wraps functions of MPI, counts the program's calls, and says how many in MPI_Finalize.
#include <mpi.h>
#include <stdio.h>

static long calls;

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++calls;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Finalize(void) {
  fprintf(stderr, "profiler: %ld all-reduces\n", calls);
  return PMPI_Finalize();
}
