// SPDX-License-Identifier: MIT
// regret MILLISECONDS [float|most]: a thousand all-reduces of an int (or a float, or the greatest of floats) that take so long by the better side, as fifth.c says. After 200 of them no more than 10 % is lost
// by trying both sides, after all no more than 3 %.
#include <time.h>

#include <cstdlib>
#include <string_view>

#include "check.hpp"

namespace {

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double best = argc > 1 ? std::atof(argv[1]) / 1000 : 1;
  const bool floats = argc > 2, most_of_all = floats && std::string_view(argv[2]) == "most";
  const conformance::Place me(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const double begin = seconds();
  double took[2] = {0, 0}, most[2] = {0, 0};
  for (int call = 1; call <= 1000; ++call) {
    int one = 1, sum = 0;
    float one_float = 1, float_sum = 0;
    if (floats) MPI_Allreduce(&one_float, &float_sum, 1, MPI_FLOAT, most_of_all ? MPI_MAX : MPI_SUM, comm);
    else MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    conformance::equal("sum", floats ? static_cast<int>(float_sum) : sum, most_of_all ? 1 : me.size);
    if (call == 200) took[0] = seconds() - begin;
  }
  took[1] = seconds() - begin;
  PMPI_Reduce(took, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me.rank == 0) {
    const double early = most[0] / (200 * best) - 1, late = most[1] / (1000 * best) - 1;
    std::printf("regret after 200 and 1000 calls: %.1f and %.1f %%: %s\n", 100 * early, 100 * late,
                early <= 0.1 && late <= 0.03 && late > -0.01 ? "small" : "too much");
    std::printf("%.0f ms in 1000 calls\n", 1000 * most[1]);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
}
