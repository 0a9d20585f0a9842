// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <exception>
#include <string>
#include <utility>

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

/// A text of rank `root`, on every rank. Collective.
inline std::string text_of(MPI_Comm comm, int root, std::string text) {
  int length = static_cast<int>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
  return text;
}

/// What each rank does for itself: where it fails on one, all throw, with the words of the first that failed. Collective.
template <typename Action>
void check_all(MPI_Comm comm, Action&& alone) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::string why;
  int mine = size, first = size;
  try {
    std::forward<Action>(alone)();
  } catch (const std::exception& error) {
    why = error.what();
    mine = rank;
  }
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (first != size) throw Error("rank {}: {}", first, text_of(comm, first, std::move(why)));
}

}  // namespace chasqui::mpi
