// SPDX-License-Identifier: MIT
// An all-reduce through an installed Chasqui over somebody's MPI.
#include <chasqui/mpi/comm.hpp>
#include <cstdio>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  {
    const auto comm = chasqui::mpi::make_comm(MPI_COMM_WORLD);
    const int sum = comm->allreduce(comm->rank() + 1);
    if (comm->rank() == 0) std::printf("sum %d on %d ranks\n", sum, comm->size());
  }
  MPI_Finalize();
}
