// SPDX-License-Identifier: MIT
// Barriers and all-reduces of threads back to back, beside std::barrier and OpenMP's barrier: what waiting costs, above all where there
// are more threads than cores.
//   table_waiting [threads]
#include <barrier>
#include <cstdio>
#include <cstdlib>

#include "chasqui/base/clock.hpp"
#include "chasqui/threads/team.hpp"

namespace {

using namespace chasqui;

/// Microseconds of one of many calls of each thread, as thread 0 sees it.
template <typename Body>
double back_to_back(threads::Team& team, Body body) {
  constexpr int kCalls = 5000;
  double each = 0;
  team.run([&](run::Comm& comm) {
    comm.barrier();
    const double begin = clock_now();
    for (int i = 0; i < kCalls; ++i) body(comm);
    if (comm.rank() == 0) each = (clock_now() - begin) / kCalls / 1000;
  });
  return each;
}

void waiting(int threads) {
  threads::Team team(threads);
  std::barrier standard(threads);
  std::printf("%d threads, microseconds of a call, one after another\nbarrier  all-reduce  std::barrier  OpenMP\n",
              threads);
  for (int time = 0; time < 5; ++time) {
    const double barrier = back_to_back(team, [](run::Comm& comm) { comm.barrier(); });
    const double fold = back_to_back(team, [](run::Comm& comm) { comm.allreduce(1L); });
    const double library = back_to_back(team, [&](run::Comm&) { standard.arrive_and_wait(); });
    std::printf("%7.2f %11.2f %13.2f", barrier, fold, library);
#ifdef _OPENMP
    constexpr int kCalls = 5000;
    double each = 0;
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
      const double begin = clock_now();
      for (int i = 0; i < kCalls; ++i) {
#pragma omp barrier
      }
#pragma omp master
      each = (clock_now() - begin) / kCalls / 1000;
    }
    std::printf(" %7.2f", each);
#endif
    std::puts("");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  if (threads < 2) {
    std::fprintf(stderr, "usage: table_waiting [THREADS], two at least\n");
    return 2;
  }
  waiting(threads);
  return 0;
}
