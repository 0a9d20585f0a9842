// SPDX-License-Identifier: MIT
// Preloaded after the library under test: an MPI whose all-reduce of whole numbers takes a known time on every rank, and another one on
// the odd ranks. SLOWER_BASE and SLOWER_ODD: microseconds that PMPI_Allreduce takes beyond its own. What Chasqui sends between
// nodes (PMPI_Isend) takes SLOWER_SEND.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void rest(const char* name) {
  const char* text = getenv(name);
  const struct timespec pause = {0, text != NULL ? atol(text) * 1000 : 0};
  if (pause.tv_nsec > 0) nanosleep(&pause, NULL);
}
static int odd(void) {
  static int rank = -1;
  if (rank < 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank % 2;
}

int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
  rest(odd() ? "SLOWER_ODD" : "SLOWER_BASE");
  return next(send, receive, count, type, op, comm);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  rest("SLOWER_SEND");
  return next(data, count, type, to, tag, comm, request);
}
