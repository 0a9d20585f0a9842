// SPDX-License-Identifier: MIT
#include "cli/alike.hpp"

#include <mpi.h>

namespace chasqui::cli {
namespace {

std::string from_rank_zero(std::string text) {
  auto length = static_cast<unsigned long long>(text.size());
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  text.resize(length);
  MPI_Bcast(text.data(), static_cast<int>(length), MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

}  // namespace

Profile profile_of_rank_zero(const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::string text, error;
  if (rank == 0) {
    try {
      text = to_json(read_profile(path));
    } catch (const std::exception& found) {
      error = found.what();
    }
  }
  error = from_rank_zero(std::move(error));
  if (!error.empty()) throw Alike(error);
  return profile_from_json(from_rank_zero(std::move(text)), path);
}

}  // namespace chasqui::cli
