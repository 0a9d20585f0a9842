// SPDX-License-Identifier: MIT
// Stands below the drop-in library while passed_calls.cpp counts and times: where that says so, collectives do nothing at all, so what is
// left of a call is what stands above. Otherwise they go on to the MPI library. And where it says so the clock goes a million times slower: then
// all calls take the same time, and a comparison comes to no early end.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/collectives.h"

/// The program's; a shell that starts it is loaded with this library too, and has none.
extern "C" int chasqui_idle [[gnu::weak]], chasqui_slow_clock [[gnu::weak]];

extern "C" int clock_gettime(clockid_t clock, struct timespec* time) {
  const int code = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (&chasqui_slow_clock == nullptr || chasqui_slow_clock == 0 || clock != CLOCK_MONOTONIC) return code;
  static const timespec begin = *time;
  const long long since = (time->tv_sec - begin.tv_sec) * 1'000'000'000ll + time->tv_nsec - begin.tv_nsec;
  *time = begin;
  const long long now = begin.tv_nsec + since / 1'000'000;
  time->tv_sec += now / 1'000'000'000;
  time->tv_nsec = now % 1'000'000'000;
  return code;
}

#define CHASQUI_IDLE(Name, name, parameters, arguments)                                                    \
  extern "C" int PMPI_##Name parameters {                                                                  \
    if (chasqui_idle != 0) return MPI_SUCCESS;                                                             \
    static auto* const next = reinterpret_cast<decltype(&PMPI_##Name)>(dlsym(RTLD_NEXT, "PMPI_" #Name));   \
    return next arguments;                                                                                 \
  }                                                                                                        \
  extern "C" decltype(PMPI_##Name) chasqui_idle_##Name [[gnu::alias("PMPI_" #Name)]];                      \
  extern "C" int PMPI_I##name(CHASQUI_OPEN parameters, MPI_Request* request) {                             \
    if (chasqui_idle != 0) return *request = MPI_REQUEST_NULL, MPI_SUCCESS;                                \
    static auto* const next = reinterpret_cast<decltype(&PMPI_I##name)>(dlsym(RTLD_NEXT, "PMPI_I" #name)); \
    return next(CHASQUI_OPEN arguments, request);                                                          \
  }                                                                                                        \
  extern "C" decltype(PMPI_I##name) chasqui_idle_I##name [[gnu::alias("PMPI_I" #name)]];
CHASQUI_COLLECTIVES(CHASQUI_IDLE)
