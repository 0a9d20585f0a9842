// SPDX-License-Identifier: MIT
// What the interposition costs when a call is passed on: MPI_X through the drop-in library, against the MPI library alone. The
// program is linked with the library, which interposes as LD_PRELOAD does. Alone it measures calls on MPI_COMM_SELF; under
// mpirun -n 2 also broadcasts without data on MPI_COMM_WORLD, which look at all arguments and send nothing.
// The last lines are differences, the least of many short rounds of each.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include "chasqui/base/clock.hpp"
#include "node/native_mpi.hpp"

namespace {

double x = 1, y = 0;
constexpr int kOne = 1, kZero = 0;

struct Pair {
  const char* name;
  void (*through)();
  void (*native)();
};
#define CHASQUI_PAIR(name, call, arguments)                                      \
  {                                                                              \
    name, [] { MPI_##call arguments; }, [] { MPI_NATIVE(MPI_##call) arguments; } \
  }
constexpr Pair kAlone[] = {
    CHASQUI_PAIR("Allreduce", Allreduce, (&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF)),
    CHASQUI_PAIR("Bcast", Bcast, (&x, 1, MPI_DOUBLE, 0, MPI_COMM_SELF)),
    CHASQUI_PAIR("Barrier", Barrier, (MPI_COMM_SELF)),
    CHASQUI_PAIR("Gatherv", Gatherv, (&x, 1, MPI_DOUBLE, &y, &kOne, &kZero, MPI_DOUBLE, 0, MPI_COMM_SELF))};
constexpr Pair kTogether = CHASQUI_PAIR("Bcast without data", Bcast, (&x, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD));

double least(void (*call)()) {
  double best = 1e30;
  for (int round = 0; round < 200; ++round) {
    const double begin = chasqui::clock_now();
    for (int i = 0; i < 1000; ++i) call();
    best = std::min(best, (chasqui::clock_now() - begin) / 1000);
  }
  return best;
}

void measure(benchmark::State& state, void (*call)()) {
  for (auto _ : state) call();
}

void difference(const Pair& pair) {
  const double through = least(pair.through), native = least(pair.native);
  std::printf("MPI_%s: %.1f ns, natively %.1f ns, passing on costs %.1f ns\n", pair.name, through, native,
              through - native);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 40; ++i) MPI_Barrier(MPI_COMM_WORLD);  // past the first calls
  benchmark::Initialize(&argc, argv);
  for (const Pair& pair : kAlone) {
    benchmark::RegisterBenchmark((std::string("MPI_") + pair.name).c_str(), measure, pair.through);
    benchmark::RegisterBenchmark((std::string("natively ") + pair.name).c_str(), measure, pair.native);
  }
  if (rank == 0) {
    benchmark::RunSpecifiedBenchmarks();
    for (const Pair& pair : kAlone) difference(pair);
    if (size > 1) difference(kTogether);
  } else {
    // The same number of calls on the world as rank 0 makes.
    static_cast<void>(least(kTogether.through));
    static_cast<void>(least(kTogether.native));
  }
  MPI_Finalize();
  return 0;
}
