// SPDX-License-Identifier: MIT
// The calls of MPI that the drop-in library makes fail once in turn on each rank (failing_calls.cpp makes them): every
// collective that says so has the right result, the others return an error code, and none waits for ever.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../patience.hpp"
#include "check.hpp"

namespace {

using namespace conformance;

void (*arm)(int) = nullptr;
int (*failures)() = nullptr;
const char* (*latest)() = nullptr;

char doing[100] = "";
extern "C" void say_and_end(int) {
  for (const char* text : {"does not end: ", static_cast<const char*>(doing), latest(), "\n"})
    static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
  _exit(1);
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s%s\n", what, doing, latest());
  std::abort();
}

/// False: so many calls there are not.
bool survived(int n, int where) {
  alarm(30 * chasqui::kPatience);
  std::snprintf(doing, sizeof doing, "call %d of rank %d ", n, where);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const Place me(comm);
  const int before = failures();
  MPI_Barrier(comm);
  if (me.rank == where) arm(n);
  int one = 1, sum = 0;
  double half = 0.5, halves = 0;
  std::vector<int> data(5000, me.rank == 1 ? 7 : 0);
  if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS) expect(sum == me.size, "a sum is wrong");
  if (MPI_Bcast(data.data(), 5000, MPI_INT, 1, comm) == MPI_SUCCESS) expect(data.back() == 7, "a broadcast is wrong");
  if (MPI_Allreduce(&half, &halves, 1, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS)
    expect(halves == 0.5 * me.size, "a sum of doubles is wrong");
  arm(0);
  int here = failures() - before, anywhere = 0;
  PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  return anywhere != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  *reinterpret_cast<void**>(&arm) = dlsym(RTLD_DEFAULT, "failing_arm");
  *reinterpret_cast<void**>(&failures) = dlsym(RTLD_DEFAULT, "failing_failures");
  *reinterpret_cast<void**>(&latest) = dlsym(RTLD_DEFAULT, "failing_latest");
  if (arm == nullptr || failures == nullptr || latest == nullptr) return 2;  // failing_calls is not preloaded
  std::signal(SIGALRM, say_and_end);
  const Place me(MPI_COMM_WORLD);
  const int step = argc > 1 ? std::atoi(argv[1]) : 1;  // every so many alone saves time
  int all = 0;
  for (int where = 0; where < me.size; ++where) {
    for (int n = 1 + where; survived(n, where); n += step) ++all;
  }
  expect(all * step > 10, "hardly anything failed");
  if (me.rank == 0) std::printf("%d failures: survived\n", all);
  MPI_Finalize();
}
