// SPDX-License-Identifier: MIT
#include "mpi/profile.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "chasqui/base/error.hpp"
#include "mpi/check.hpp"

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

std::shared_ptr<const Profile> profile_for_all(MPI_Comm comm, const char* path) {
  if (path == nullptr) path = std::getenv("CHASQUI_PROFILE");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::string text, error;
  if (rank == 0 && path != nullptr && *path != '\0') {
    try {
      // A pipe would be waited for, and the whole job with it.
      if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
        throw Error("{}: is not a regular file: write the profile into one", path);
      text = to_json(read_profile(path));
    } catch (const std::exception& found) {
      error = found.what();
    }
  }
  error = from_rank_zero(comm, std::move(error));
  if (!error.empty()) throw Error("{}", error);
  text = from_rank_zero(comm, std::move(text));
  return std::make_shared<const Profile>(text.empty() ? default_profile()
                                                      : profile_from_json(text, "the profile of rank 0"));
}

}  // namespace chasqui::mpi
