// SPDX-License-Identifier: MIT
// last [--well]: MPI_Finalize begins with functions of the program that delete what it has attached to MPI_COMM_SELF, the latest first. They may
// call MPI as before; the last one to be called says that it failed, unless all goes well.
#include <mpi.h>
// after it
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "check.hpp"

namespace {

using namespace conformance;

MPI_Comm comm;
MPI_Request started = MPI_REQUEST_NULL;
bool well = false;
int called = 0, mine = 0, largest = -1;
#ifdef OPEN_MPI
MPI_Request persistent = MPI_REQUEST_NULL;
int sum = -1;
#endif

/// Makes the kinds of calls that nothing else here makes, begins one that the next function waits for.
void calls(int number) {
  const Place me(comm);
  int before = -1, share = -1, ended = 1;
  MPI_Finalized(&ended);
  equal("ended", ended, 0);
  const int one = 1;
  MPI_Scan(&one, &before, 1, MPI_INT, MPI_SUM, comm);
  equal("scan", before, me.rank + 1);
  std::vector<int> ones(index(me.size), number);
  MPI_Reduce_scatter_block(ones.data(), &share, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  equal("share", share, number * me.size);
  if (started != MPI_REQUEST_NULL) {
    MPI_Wait(&started, MPI_STATUS_IGNORE);
    equal("largest", largest, me.size - 1);
  }
  MPI_Iallreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, comm, &started);
#ifdef OPEN_MPI
  sum = -1;
  MPI_Start(&persistent);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  equal("persistent sum", sum, me.size * (me.size - 1) / 2);
#endif
}

int last_words(MPI_Comm, int, void* number, void*) {
  const int which = *static_cast<int*>(number);
  part = "in MPI_Finalize";
  equal("in reverse", which, 3 - called);
  ++called;
  calls(which);
  if (which > 1) return MPI_SUCCESS;
  const Place me(comm);
  MPI_Wait(&started, MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
  MPI_Request_free(&persistent);
#endif
  MPI_Comm_free(&comm);
  if (me.rank == 0) std::printf("last words on %d ranks: right\n", me.size);
  return well ? MPI_SUCCESS : MPI_ERR_OTHER;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  well = argc > 1;
  static int numbers[] = {1, 2, 3};
  for (int& number : numbers) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_words, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &number);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &mine);
  for (int i = 0; i < 3; ++i) MPI_Barrier(comm);
#ifdef OPEN_MPI
  MPIX_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent);
#endif
  MPI_Finalize();
  return called == 3 ? 0 : 1;
}
