// SPDX-License-Identifier: MIT
#include "mpi/together.hpp"

#include "mpi/check.hpp"

namespace chasqui::mpi {
namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

}  // namespace

BlockingTalk::BlockingTalk(MPI_Comm comm) : Talk(rank_in(comm), size_of(comm)), comm_(comm) {}

void BlockingTalk::least(int (&numbers)[2]) {
  const int here[2] = {numbers[0], numbers[1]};
  check(MPI_Allreduce(here, numbers, 2, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
}

void BlockingTalk::tell(int root, void* data, std::size_t bytes) {
  check(MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, comm_), "MPI_Bcast");
}

void BlockingTalk::gather(const void* mine, std::size_t bytes, void* everyones) {
  const int length = static_cast<int>(bytes);
  check(MPI_Allgather(mine, length, MPI_BYTE, everyones, length, MPI_BYTE, comm_), "MPI_Allgather");
}

std::string text_of(Talk& talk, int root, std::string text) {
  std::size_t length = text.size();
  talk.tell(root, &length, sizeof length);
  text.resize(length);
  talk.tell(root, text.data(), length);
  return text;
}

void Together::fail(const std::string& why) {
  step(rank(), 0, why);
  throw Error("{}", why);
}

int Together::step(int failing, int mine, const std::string& why) {
  int least[2] = {failing, -mine};
  talk_.least(least);
  if (least[0] == size()) return -least[1];
  throw AgreedError("rank {}: {}", least[0], text_of(talk_, least[0], why));
}

}  // namespace chasqui::mpi
