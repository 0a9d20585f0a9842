// SPDX-License-Identifier: MIT
// Preloaded between ours and the MPI library: that one takes pointers of a GPU on every rank, and the host of rank GPU_RANK (-1: none) has a GPU.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int MPIX_Query_cuda_support(void) { return 1; }

static int my_rank(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int access(const char* path, int mode) {
  if (strcmp(path, "/dev/nvidiactl") == 0) return my_rank() == atoi(getenv("GPU_RANK")) ? 0 : -1;
  int (*const next)(const char*, int) = (int (*)(const char*, int))dlsym(RTLD_NEXT, "access");
  return next(path, mode);
}
