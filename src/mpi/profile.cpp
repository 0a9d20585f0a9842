// SPDX-License-Identifier: MIT
#include "profile.hpp"

#include <exception>
#include <string>
#include <utility>

#include "chasqui/base/error.hpp"
#include "check.hpp"

namespace chasqui::mpi {
namespace {

/// A text of rank 0, on every rank.
std::string from_rank_zero(MPI_Comm comm, std::string text) {
  unsigned long long length = text.size();
  check(MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, comm), "MPI_Bcast");
  text.resize(length);
  check(MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, comm), "MPI_Bcast");
  return text;
}

}  // namespace

std::optional<Profile> profile_of_rank_zero(MPI_Comm comm, const char* path) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text, error;
  if (rank == 0 && path != nullptr) {
    try {
      text = to_json(read_profile(path));
    } catch (const std::exception& found) {
      error = found.what();
    }
  }
  error = from_rank_zero(comm, std::move(error));
  if (!error.empty()) throw Error("{}", error);
  text = from_rank_zero(comm, std::move(text));
  if (text.empty()) return std::nullopt;
  return profile_from_json(text, "the profile of rank 0");
}

}  // namespace chasqui::mpi
