// SPDX-License-Identifier: MIT
// Rank 1 reaches an all-reduce by a way that no library can see: it asks the MPI library itself for the function. Ends when the
// others have had time to say so, or when it is through.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

#include "../patience.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, one = 1, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  auto allreduce = &MPI_Allreduce;
  if (rank == 1) {
    Dl_info library{};
    dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &library);
    void* const own = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    allreduce = reinterpret_cast<decltype(allreduce)>(own != nullptr ? dlsym(own, "MPI_Allreduce") : nullptr);
    if (allreduce == nullptr) MPI_Abort(MPI_COMM_WORLD, 2);
  }
  alarm(10 * chasqui::kSlowdown);
  allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("through: %d\n", sum);
  MPI_Finalize();
}
