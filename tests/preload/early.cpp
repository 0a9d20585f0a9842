// SPDX-License-Identifier: MIT
// A program that finds MPI begun: by a library of its own (early_library.cpp).
#include <mpi.h>

#include <cstdio>

int own_rank();

int main() {
  const int one = 1;
  int sum = 0;
  for (int i = 0; i < 50; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (own_rank() == 0) std::printf("%d ranks\n", sum);
}
