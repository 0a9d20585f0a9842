// SPDX-License-Identifier: MIT
// Calls of MPI that the linker brings here (--wrap) fail where `fails(Class::call, name)` of the test says so.
#pragma once

#include <mpi.h>

// Collectives of MPI fail after they are done: otherwise the others would wait inside the library, which nobody can help. But an
// all-reduce, by which ranks tell of failures, fails before anything is sent.
#define FAILS_INSTEAD(name, parameters, arguments) \
  int __real_##name parameters;                    \
  int __wrap_##name parameters;                    \
  int __wrap_##name parameters { return fails(Class::call, #name) ? MPI_ERR_OTHER : __real_##name arguments; }
#define FAILS_AFTERWARDS(name, parameters, arguments)        \
  int __real_##name parameters;                              \
  int __wrap_##name parameters;                              \
  int __wrap_##name parameters {                             \
    const int code = __real_##name arguments;                \
    return fails(Class::call, #name) ? MPI_ERR_OTHER : code; \
  }
