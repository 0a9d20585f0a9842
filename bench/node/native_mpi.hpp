// SPDX-License-Identifier: MIT
// The MPI library's own functions, past whatever is preloaded: the drop-in library serves the names MPI_… and PMPI_… alike.
#pragma once

#include <dlfcn.h>

/// The function where the library itself has it. REQUIRES that MPI is linked dynamically.
template <typename Function>
Function* native_mpi(const char* name) {
  Dl_info library{};
  dladdr(dlsym(RTLD_DEFAULT, "PMPI_Get_library_version"), &library);
  return reinterpret_cast<Function*>(dlsym(dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name));
}
/// MPI_NATIVE(MPI_Bcast)(buffer, …)
#define MPI_NATIVE(name)                                                  \
  ([] {                                                                   \
    static decltype(name)* const own = native_mpi<decltype(name)>(#name); \
    return own;                                                           \
  }())
