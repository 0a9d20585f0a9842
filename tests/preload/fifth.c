// SPDX-License-Identifier: MIT
// Preloaded after the library under test: an MPI in simulated time. An all-reduce of one int or float takes FIFTH_NATIVE milliseconds from when the last
// rank has come, and FIFTH_NATIVE_ODD on the odd ranks; a message that Chasqui sends between nodes FIFTH_SEND and FIFTH_SEND_ODD; FIFTH_EARLY until FIFTH_EARLY_CALLS all-reduces of floats were begun. The clock
// goes on by so much while next to nothing happens, so a busy machine changes nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long simulated;  // nanoseconds that the clock is ahead
static int begun;            // all-reduces of floats

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int code = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock != CLOCK_MONOTONIC) return code;
  const long long now = time->tv_nsec + simulated;
  time->tv_sec += now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return code;
}

static void pass(const char* name, const char* odd_name) {
  static int rank = -1;
  if (rank < 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* text = getenv(rank % 2 == 1 ? odd_name : name);
  simulated += text != NULL ? atoll(text) * 1000000 : 0;
}

int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Allreduce");
  if (count == 1 && (type == MPI_INT || type == MPI_FLOAT)) {
    if (type == MPI_FLOAT) ++begun;
    next(MPI_IN_PLACE, &simulated, 1, MPI_LONG_LONG, MPI_MAX, comm);
    pass("FIFTH_NATIVE", "FIFTH_NATIVE_ODD");
  }
  return next(send, receive, count, type, op, comm);
}

int PMPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  static int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "PMPI_Isend");
  const char* early = getenv("FIFTH_EARLY_CALLS");
  if (early != NULL && begun < atoi(early)) pass("FIFTH_EARLY", "FIFTH_EARLY");
  else pass("FIFTH_SEND", "FIFTH_SEND_ODD");
  return next(data, count, type, to, tag, comm, request);
}
