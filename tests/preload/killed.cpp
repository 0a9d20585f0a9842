// SPDX-License-Identifier: MIT
// A rank dies in the middle of many collectives. The launcher must end the job; the test is that it does.
#include <csignal>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  for (int i = 0;; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> data(5000, i);
    MPI_Bcast(data.data(), 5000, MPI_INT, 0, MPI_COMM_WORLD);
    if (i == 100 && me.rank == me.size - 1) raise(SIGKILL);
  }
}
