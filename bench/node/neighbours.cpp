// SPDX-License-Identifier: MIT
// Would neighbourhood collectives gain by being served? On a periodic grid of all ranks, the MPI library's own
// MPI_Neighbor_alltoall against an MPI_Alltoallv that is empty but for the neighbours, which the drop-in library serves:
//   LD_PRELOAD=OUT/libchasqui-mpi.so CHASQUI_TRIALS=0 mpirun --bind-to core -np 16 neighbours [ROUNDS]
// Medians of all rounds, of the slowest rank, back to back. Compiled by mpicxx -std=c++20 -O2.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr int kCalls = 100;
constexpr int kNeighbours = 4;

double median(std::vector<double> list) {
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
  return list[list.size() / 2];
}

/// Microseconds of each of many calls, of the slowest rank.
template <typename Call>
double back_to_back(Call&& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) call();
  const double mine = (MPI_Wtime() - begin) / kCalls * 1e6;
  double most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sides[2] = {0, 0};
  MPI_Dims_create(size, 2, sides);
  const int periodic[2] = {1, 1};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periodic, 0, &grid);
  int near[kNeighbours];
  MPI_Cart_shift(grid, 0, 1, &near[0], &near[1]);
  MPI_Cart_shift(grid, 1, 1, &near[2], &near[3]);
  if (rank == 0)
    std::printf("%d x %d ranks\n%8s %14s %14s %6s\n", sides[0], sides[1], "bytes", "neighbours us", "alltoallv us",
                "ratio");
  for (const int bytes : {8, 64, 512, 4096, 16384, 65536}) {
    std::vector<char> out(static_cast<std::size_t>(bytes) * kNeighbours, static_cast<char>(rank)), in(out.size());
    std::vector<int> counts(static_cast<std::size_t>(size)), first(counts.size());
    for (const int other : near) counts[static_cast<std::size_t>(other)] += bytes;
    std::exclusive_scan(counts.begin(), counts.end(), first.begin(), 0);
    const auto native = [&] { MPI_Neighbor_alltoall(out.data(), bytes, MPI_CHAR, in.data(), bytes, MPI_CHAR, grid); };
    const auto sparse = [&] {
      MPI_Alltoallv(out.data(), counts.data(), first.data(), MPI_CHAR, in.data(), counts.data(), first.data(), MPI_CHAR,
                    MPI_COMM_WORLD);
    };
    for (int i = 0; i < 3; ++i) native(), sparse();
    std::vector<double> a, b;
    for (int round = 0; round < rounds; ++round) {
      a.push_back(back_to_back(native));
      b.push_back(back_to_back(sparse));
    }
    if (rank == 0) std::printf("%8d %14.2f %14.2f %6.2f\n", bytes, median(a), median(b), median(a) / median(b));
  }
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
