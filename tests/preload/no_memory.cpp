// SPDX-License-Identifier: MIT
// no_memory N RANK: the N-th allocation of that rank fails, inside calls that are served, compared, verified or folded in order. Every collective
// that says so has the right result, the others return an error, or the job ends with a word; none waits for ever.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../failing_new.hpp"
#include "../patience.hpp"
#include "check.hpp"

static int countdown = 0, failed = 0;
static bool allocation_fails() {
  if (countdown <= 0 || --countdown != 0) return false;
  ++failed;
  return true;
}

namespace {

using namespace conformance;

char doing[100] = "";
extern "C" void say_and_end(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  _exit(1);
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, doing);
  std::abort();
}

bool made(const char* name, int code) {
  if (code != MPI_SUCCESS) std::fprintf(stderr, "rank %d: an error from MPI_%s\n", Place(MPI_COMM_WORLD).rank, name);
  return code == MPI_SUCCESS;
}

/// Every second int.
MPI_Datatype with_gaps() {
  MPI_Datatype type, resized;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &resized);
  MPI_Type_dup(resized, &type);
  MPI_Type_free(&resized);
  MPI_Type_commit(&type);
  return type;
}

/// False: so many allocations there are not. Each rank's calls go on after an error: the communicator knows of it.
bool survived(int n, int where) {
  alarm(30 * chasqui::kPatience);
  std::snprintf(doing, sizeof doing, "allocation %d of rank %d\n", n, where);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const Place me(comm);
  MPI_Datatype gaps = with_gaps();
  const int before = failed;
  MPI_Barrier(comm);
  std::vector<int> data(2000, me.rank == 1 ? 7 : 0), from(20, 1), to(20), counts(index(me.size), 2), places(counts);
  std::vector<double> sums(3000, 0.5);
  int one = 1, sum = 0, share[2] = {0, 0};
  for (int r = 0; r < me.size; ++r) places[index(r)] = 2 * r;
  if (me.rank == where) countdown = n;
  if (made("Allreduce", MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm))) expect(sum == me.size, "a sum is wrong");
  if (made("Bcast", MPI_Bcast(data.data(), 1000, gaps, 1, comm))) expect(data[1998] == 7, "a broadcast is wrong");
  if (made("Allreduce", MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3000, MPI_DOUBLE, MPI_SUM, comm)))
    expect(sums.front() == 0.5 * me.size && sums.back() == sums.front(), "a sum in place is wrong");
  if (made("Reduce_scatter", MPI_Reduce_scatter(from.data(), share, counts.data(), MPI_INT, MPI_SUM, comm)))
    expect(share[1] == me.size, "a share is wrong");
  if (made("Alltoallv", MPI_Alltoallv(from.data(), counts.data(), places.data(), gaps, to.data(), counts.data(),
                                      places.data(), gaps, comm)))
    expect(to[index(4 * me.size - 2)] == 1, "an exchange is wrong");
  countdown = 0;
  int here = failed - before, anywhere = 0;
  PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Type_free(&gaps);
  MPI_Comm_free(&comm);
  return anywhere != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::signal(SIGALRM, say_and_end);
  if (argc < 3) return 2;
  const bool happened = survived(std::atoi(argv[1]), std::atoi(argv[2]));
  if (Place(MPI_COMM_WORLD).rank == 0) std::puts(happened ? "survived" : "so many there are not");
  MPI_Finalize();
}
