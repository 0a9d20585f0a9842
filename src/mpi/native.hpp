// SPDX-License-Identifier: MIT
// The MPI library's own collectives, for calls that it is measured to do faster.
#pragma once

#include <mpi.h>

#include "chasqui/run/call.hpp"

namespace chasqui::mpi {

/// Runs the call with the library. Folds go through a user operation on blocks of bytes; if the operator throws on a
/// rank, all ranks throw at the end (one more all-reduce of two words, unless the operator cannot throw).
void run_native(MPI_Comm comm, const run::Call& call);

/// The library's own call as programs write it, on doubles and MPI_SUM with root 0; what benchmarks compare with. The
/// call's operator and root are not looked at. False for kinds that the library has not.
bool run_native_doubles(MPI_Comm comm, const run::Call& call);

}  // namespace chasqui::mpi
