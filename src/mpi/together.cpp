// SPDX-License-Identifier: MIT
#include "mpi/together.hpp"

#include "mpi/check.hpp"

namespace chasqui::mpi {

std::string text_of(MPI_Comm comm, int root, std::string text) {
  int length = static_cast<int>(text.size());
  check(MPI_Bcast(&length, 1, MPI_INT, root, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm), "MPI_Bcast");
  return text;
}

Together::Together(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
}

void Together::fail(const std::string& why) {
  step(rank_, 0, why);
  throw Error("{}", why);
}

int Together::step(int failing, int mine, const std::string& why) {
  const int here[2] = {failing, -mine};
  int least[2] = {size_, 0};
  check(MPI_Allreduce(here, least, 2, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  if (least[0] == size_) return -least[1];
  throw AgreedError("rank {}: {}", least[0], text_of(comm_, least[0], why));
}

}  // namespace chasqui::mpi
