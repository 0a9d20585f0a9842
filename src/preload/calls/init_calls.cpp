// SPDX-License-Identifier: MIT
// MPI_Init to MPI_Finalize, and communicators that end.
#include "chasqui/base/error.hpp"
#include "preload/native.hpp"
#include "preload/serve.hpp"
#include "preload/session.hpp"

using namespace chasqui::preload;

extern "C" {

static int end_at_last(MPI_Comm, int, void*, void*) {
  end();
  return MPI_SUCCESS;
}
}

namespace chasqui::preload {

/// MPI_Finalize first deletes what hangs on MPI_COMM_SELF, the latest first, by functions of the program's, which may call collectives. This hangs
/// there before the program comes to it, so it is deleted after the last of them.
void arrange_end() {
  int key = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_at_last, &key, nullptr) != MPI_SUCCESS ||
      PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr) != MPI_SUCCESS)
    throw Error("MPI_Comm_set_attr failed");
}

}  // namespace chasqui::preload

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
  const int code = CHASQUI_NATIVE(Finalize)();
  end_too_late();  // Open MPI deletes nothing more when one of the program's functions has failed
  return code;
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
