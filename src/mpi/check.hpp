// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <string>

#include "chasqui/base/error.hpp"

namespace chasqui::mpi {

/// Turns an MPI error code into an Error.
inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error("{}: {}", what, std::string(text, static_cast<std::size_t>(length)));
}

}  // namespace chasqui::mpi
