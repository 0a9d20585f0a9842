/* SPDX-License-Identifier: MIT */
/* An MPI program that has never heard of Chasqui, with a sum over all ranks in each step: chasqui run -- mpirun -np 4 ./plain_mpi [STEPS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  int rank, size, wrong = 0;
  const int steps = count > 1 ? atoi(words[1]) : 20000;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < steps; ++i) {
    int mine = rank + i, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * i + size * (size - 1) / 2) ++wrong;
  }
  if (rank == 0) printf("%s\n", wrong ? "sums are wrong" : "sums are right");
  MPI_Finalize();
  return wrong != 0;
}
