// SPDX-License-Identifier: MIT
// bindings: ranks reach the same collective by different bindings, from MPI_Init on. MPI allows it.
#include "check.hpp"

extern "C" {
void mpi_init_(MPI_Fint* code);
void mpi_allreduce_(void*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_bcast_(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*);
void mpi_barrier_(MPI_Fint*, MPI_Fint*);
void mpi_comm_free_(MPI_Fint*, MPI_Fint*);
void mpi_finalize_(MPI_Fint*);
}

int main(int argc, char** argv) {
  using namespace conformance;
  part = "bindings";
  // The rank is known before MPI is: as the launchers say it.
  const char* words[] = {std::getenv("OMPI_COMM_WORLD_RANK"), std::getenv("PMI_RANK")};
  const int first = std::atoi(words[0] != nullptr ? words[0] : words[1] != nullptr ? words[1] : "0");
  MPI_Fint code = 0;
  if (first % 2 == 0) mpi_init_(&code);
  else MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Fint handle = MPI_Comm_c2f(comm), type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), one = 1;
  for (int i = 0; i < 60; ++i) {
    int mine = me.rank + i, sum = 0, value = me.rank == 0 ? i : -1, root = 0;
    const bool fortran = (me.rank + i) % 3 == 0;
    if (fortran) {
      mpi_allreduce_(&mine, &sum, &one, &type, &op, &handle, &code);
      mpi_bcast_(&value, &one, &type, &root, &handle, &code);
      mpi_barrier_(&handle, &code);
    } else {
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      MPI_Bcast(&value, 1, MPI_INT, 0, comm);
      MPI_Barrier(comm);
    }
    equal("code", code, MPI_SUCCESS);
    equal("sum", sum, me.size * (me.size - 1) / 2 + i * me.size);
    equal("value", value, i);
  }
  if (me.rank % 2 == 0) mpi_comm_free_(&handle, &code);
  else MPI_Comm_free(&comm);
  if (me.rank % 2 == 0) equal("handle", handle, MPI_Comm_c2f(MPI_COMM_NULL));
  if (me.rank == 0) std::printf("bindings on %d ranks: right\n", me.size);
  if (me.rank % 2 == 0) mpi_finalize_(&code);
  else MPI_Finalize();
  return 0;
}
