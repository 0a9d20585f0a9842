// SPDX-License-Identifier: MIT
// What the interposition costs: nanoseconds a call of MPI_Barrier and MPI_Allreduce on MPI_COMM_SELF, where every call
// is passed on. Run with and without the library and subtract.
#include <algorithm>
#include <chrono>

#include "check.hpp"

int main(int argc, char** argv) {
  using namespace conformance;
  MPI_Init(&argc, &argv);
  const auto best = [](auto call) {
    double least = 1e30;
    for (int round = 0; round < 40; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 5000; ++i) call();
      const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
      least = std::min(least, time.count() / 5000);
    }
    return least;
  };
  double x = 1, y = 0;
  const double reduce = best([&] { MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); });
  const double bcast = best([&] { MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_SELF); });
  const double barrier = best([&] { MPI_Barrier(MPI_COMM_SELF); });
  const Place me(MPI_COMM_WORLD);
  if (me.rank == 0) std::printf("allreduce %.1f ns, bcast %.1f ns, barrier %.1f ns\n", reduce, bcast, barrier);
  MPI_Finalize();
  return 0;
}
