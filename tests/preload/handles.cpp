// SPDX-License-Identifier: MIT
// handles: communicators, types, operations and requests that end early or live long. Types and operations are freed while the call that uses
// them is under way, communicators disconnected, copied while calls are pending, and freed with their requests; persistent requests are
// asked for before they are started; with MPICH, communicators of a session outlive MPI_Finalize.
#include "check.hpp"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

namespace {

using namespace conformance;

void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    const MPI_Aint at = i * extent;
    *reinterpret_cast<int*>(static_cast<char*>(inout) + at) += *reinterpret_cast<int*>(static_cast<char*>(in) + at);
  }
}

void expect_sums(MPI_Comm comm, int times) {
  const Place me(comm);
  for (int i = 0; i < times; ++i) {
    int mine = me.rank + i, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    equal("a sum", sum, me.size * (me.size - 1) / 2 + i * me.size);
  }
}

/// An int and a gap, and an operation on it, both freed before the call has ended.
void freed_before_the_end(MPI_Comm comm) {
  part = "freed before the end";
  const Place me(comm);
  for (int i = 0; i < 20; ++i) {
    MPI_Datatype type, copy;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    std::vector<int> in(20, me.rank + i), out(20, -1), all(index(20 * me.size), -1);
    MPI_Request requests[2];
    MPI_Iallreduce(in.data(), out.data(), 10, type, op, comm, &requests[0]);
    MPI_Iallgather(in.data(), 10, type, all.data(), 10, type, comm, &requests[1]);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    MPI_Type_contiguous(3, MPI_DOUBLE, &copy);  // takes the handle
    MPI_Type_commit(&copy);
    expect_sums(comm, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&copy);
    for (int k = 0; k < 20; ++k)
      equal("sum", out[index(k)], k % 2 != 0 ? -1 : me.size * (me.size - 1) / 2 + i * me.size);
    equal("last", all[index(20 * me.size - 2)], me.size - 1 + i);
    equal("gap", all[index(20 * me.size - 1)], -1);
  }
}

/// Copies of a communicator that has calls pending, both ways; used and disconnected in another order on each rank.
void copied_under_way(MPI_Comm comm) {
  part = "copied under way";
  const Place me(comm);
  for (int i = 0; i < 5; ++i) {
    int sum = -1, value = me.rank == 0 ? 50 + i : -1;
    MPI_Request requests[3];
    MPI_Comm copies[2];
    MPI_Iallreduce(&me.rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Comm_dup(comm, &copies[0]);
    MPI_Comm_idup(comm, &copies[1], &requests[1]);
    expect_sums(copies[0], 3);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Ibcast(&value, 1, MPI_INT, 0, copies[1], &requests[2]);
    expect_sums(copies[1], 3);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    equal("value", value, 50 + i);
    equal("sum", sum, me.size * (me.size - 1) / 2);
    MPI_Comm_disconnect(&copies[0]);
    MPI_Comm_free(&copies[1]);
  }
}

/// A persistent request is asked for before it is started and after it has ended, and freed without having been used.
void persistent(MPI_Comm comm) {
  part = "persistent";
  const Place me(comm);
  int token = me.rank, got = -1, done = 0;
  MPI_Request pair[2];
  MPI_Send_init(&token, 1, MPI_INT, (me.rank + 1) % me.size, 4, comm, &pair[0]);
  MPI_Recv_init(&got, 1, MPI_INT, (me.rank + me.size - 1) % me.size, 4, comm, &pair[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Testall(2, pair, &done, MPI_STATUSES_IGNORE);
    equal("not started", done, 1);
    expect_sums(comm, 2);
    MPI_Startall(2, pair);
    expect_sums(comm, 2);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    equal("token", got, (me.rank + me.size - 1) % me.size);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);
  MPI_Request lost;  // nothing will come
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 99, comm, &lost);
  expect_sums(comm, 2);
  MPI_Cancel(&lost);
  MPI_Wait(&lost, MPI_STATUS_IGNORE);
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
  int sum = -1;
  MPI_Request folds, unused;
  MPI_Status status;
  MPIX_Allreduce_init(&token, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &folds);
  MPIX_Barrier_init(comm, MPI_INFO_NULL, &unused);
  for (int i = 0; i < 3; ++i) {
    MPI_Test(&folds, &done, &status);
    equal("not started", done, 1);
    token = me.rank + i;
    MPI_Start(&folds);
    expect_sums(comm, 2);
    MPI_Wait(&folds, &status);
    equal("persistent sum", sum, me.size * (me.size - 1) / 2 + i * me.size);
  }
  MPI_Request_free(&folds);
  MPI_Request_free(&unused);
#endif
}

}  // namespace

int main(int argc, char** argv) {
#ifdef MPICH
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group all;
  MPI_Comm early;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm_create_from_group(all, "early", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &early);
  part = "a session alone";
  expect_sums(early, 5);
#endif
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  freed_before_the_end(MPI_COMM_WORLD);
  copied_under_way(MPI_COMM_WORLD);
  persistent(MPI_COMM_WORLD);
#ifdef MPICH
  MPI_Comm late;
  MPI_Comm_create_from_group(all, "late", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &late);
  part = "a session beside";
  expect_sums(early, 5);
  expect_sums(late, 5);
#endif
  MPI_Finalize();
#ifdef MPICH
  part = "a session that is left";
  expect_sums(early, 5);
  MPI_Comm_free(&early);
  expect_sums(late, 5);
  MPI_Comm_free(&late);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
#endif
  if (me.rank == 0) std::printf("handles on %d ranks: right\n", me.size);
  return 0;
}
