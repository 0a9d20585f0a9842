// SPDX-License-Identifier: MIT
// A call of ours, and what becomes of it: it is done, the MPI library does it, or the program gets an error. After an error all calls on this
// communicator come here, too, until all ranks know of it.
#pragma once

#include <mpi.h>

#include <string>

#include "preload/serve.hpp"

namespace chasqui::preload {

/// The error of a call as the program gets it: its error handler decides. Handlers that end the job know no message, so it
/// is said before. In Open MPI it is also what MPI_Error_string says; MPICH cannot add messages to its own classes.
int raise(MPI_Comm comm, int error_class, const std::string& text);

/// The others are on their way into what this rank cannot make, and nobody can tell them.
[[noreturn, gnu::cold]] void end_of_all(Collective what, MPI_Comm comm, const char* why);

/// A call after one that failed.
[[gnu::cold]] int attempt_after_failure(Collective what, ServedCall& served);
/// What becomes of a call that threw. REQUIRES that the exception is being handled.
[[gnu::cold]] int after_exception(Collective what, ServedCall& served);

/// Returns MPI_SUCCESS, kDeclined with a reason that is not counted yet, or the error that the program gets.
template <typename Way>
inline int attempt(Collective what, ServedCall& served, const Way& way) {
  UnderWay& under_way = this_thread().under_way;
  under_way = {under_way.number + 1, what};
  const CommState& state = served.state();
  if (state.comm != nullptr && (state.failed_in != 0 || run::broken(*state.comm)))
    return attempt_after_failure(what, served);
  try {
    way(served);
    return MPI_SUCCESS;
  } catch (...) {
    return after_exception(what, served);
  }
}

}  // namespace chasqui::preload
