// SPDX-License-Identifier: MIT
// Preloaded after the library under test: an MPI whose speed changes. During the first calls of PMPI_Allreduce messages
// (PMPI_Isend, by which Chasqui talks between nodes) are slow; from then on PMPI_Allreduce itself is. So the first verdict
// must be for the MPI library and a later one against it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static int calls = 0;

static void rest(long microseconds) {
  const struct timespec pause = {0, microseconds * 1000};
  nanosleep(&pause, NULL);
}
static int turned(void) {
  const char* limit = getenv("MOODY_CALLS");
  return calls > (limit != NULL ? atoi(limit) : 100);
}

int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
  ++calls;
  rest(turned() ? 1500 : 300);
  return next(send, receive, count, type, op, comm);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  if (!turned()) rest(6000);
  return next(data, count, type, to, tag, comm, request);
}
