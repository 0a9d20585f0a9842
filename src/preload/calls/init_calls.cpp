// SPDX-License-Identifier: MIT
// MPI_Init to MPI_Finalize, and communicators that end.
#include "preload/native.hpp"
#include "preload/serve.hpp"
#include "preload/session.hpp"

using namespace chasqui::preload;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = CHASQUI_NATIVE(Init)(argc, argv);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = CHASQUI_NATIVE(Init_thread)(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin();
  return code;
}

int MPI_Finalize() {
  end();
  return CHASQUI_NATIVE(Finalize)();
}

int MPI_Comm_free(MPI_Comm* comm) {
  CHASQUI_CALLER
  const int code = CHASQUI_NATIVE(Comm_free)(comm);
  give_back();
  return code;
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  CHASQUI_CALLER
  const int code = CHASQUI_NATIVE(Comm_disconnect)(comm);
  give_back();
  return code;
}

}  // extern "C"

CHASQUI_NAMES(Init)
CHASQUI_NAMES(Init_thread)
CHASQUI_NAMES(Finalize)
CHASQUI_NAMES(Comm_free)
CHASQUI_NAMES(Comm_disconnect)
