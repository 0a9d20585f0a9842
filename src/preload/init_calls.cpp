// SPDX-License-Identifier: MIT
// MPI_Init to MPI_Finalize, and communicators that end.
#include <mpi.h>

#include "preload/session.hpp"

using namespace chasqui::preload;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Finalize() {
  end();
  return PMPI_Finalize();
}

int MPI_Comm_free(MPI_Comm* comm) {
  const int code = PMPI_Comm_free(comm);
  bury();
  return code;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  const int code = PMPI_Comm_disconnect(comm);
  bury();
  return code;
}

}  // extern "C"
