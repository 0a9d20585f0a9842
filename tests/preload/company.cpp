// SPDX-License-Identifier: MIT
// Collectives in company: the program's own messages and requests, errors, attributes.
#include <algorithm>

#include "check.hpp"

namespace conformance {
namespace {

int copies = 0;
int count_copy(MPI_Comm, int, void*, void*, void*, int* flag) { return ++copies, *flag = 0, MPI_SUCCESS; }

/// A receive from anyone with any tag waits while collectives run: nothing of theirs may land in it.
void own_messages(MPI_Comm comm) {
  part = "own messages";
  const Place me(comm);
  int got = -1, token = me.rank + 40;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  for (int i = 0; i < 5; ++i) {
    int x = 1, sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
    equal("sum", sum, me.size);
    equal("untouched", got, -1);
    MPI_Barrier(comm);
  }
  MPI_Send(&token, 1, MPI_INT, (me.rank + 1) % me.size, 77, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal("token", got, (me.rank + me.size - 1) % me.size + 40);
}

/// A long send is completed by the receiver while the sender is already in a collective: that must let MPI progress.
void progress(MPI_Comm comm) {
  part = "progress";
  const Place me(comm);
  if (me.size == 1) return;
  std::vector<int> data(300'000, me.rank);
  MPI_Request request;
  if (me.rank == 0) {
    MPI_Isend(data.data(), 300'000, MPI_INT, 1, 5, comm, &request);
    MPI_Barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (me.rank == 1) MPI_Recv(data.data(), 300'000, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    if (me.rank == 1) equal("data", data.back(), 0);
  }
  // One rank waits for the non-blocking one before the blocking one, the others after it.
  int value = me.rank == 0 ? 9 : 0, sum = 0, one = 1;
  MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
  if (me.rank == me.size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (me.rank != me.size - 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal("ibcast", value, 9);
  equal("sum", sum, me.size);
}

void non_blocking(MPI_Comm comm) {
  part = "non-blocking";
  const Place me(comm);
  MPI_Comm short_lived;
  MPI_Comm_dup(comm, &short_lived);
  std::vector<int> all(index(me.size)), sums(3), scans(3);
  const int in[] = {me.rank, 1, 2};
  int warm = 1, out = 0;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&warm, &out, 1, MPI_INT, MPI_SUM, short_lived);
  MPI_Request requests[4];
  MPI_Iallreduce(in, sums.data(), 3, MPI_INT, MPI_SUM, short_lived, &requests[0]);
  MPI_Iallgather(&me.rank, 1, MPI_INT, all.data(), 1, MPI_INT, short_lived, &requests[1]);
  MPI_Iscan(in, scans.data(), 3, MPI_INT, MPI_SUM, short_lived, &requests[2]);
  MPI_Ibarrier(short_lived, &requests[3]);
#ifdef MPICH
  MPI_Comm_free(&short_lived);  // while they are in flight
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
#else  // Open MPI 4.1 itself crashes or hangs then
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&short_lived);
#endif
  equal("sum", sums[0], me.size * (me.size - 1) / 2);
  equal("gathered", all[index(me.size - 1)], me.size - 1);
  equal("scan", scans[1], me.rank + 1);
}

/// A communicator is freed while messages on it are under way, some of them begun before its private part was made.
void freed_under_messages(MPI_Comm comm) {
  part = "freed under messages";
  const Place me(comm);
  MPI_Comm short_lived;
  MPI_Comm_dup(comm, &short_lived);
  const int next = (me.rank + 1) % me.size, previous = (me.rank + me.size - 1) % me.size;
  std::vector<int> out(50'000, me.rank), in(50'000, -1), late(3, -1), news(3, 60 + me.rank);
  MPI_Request requests[4];
  MPI_Irecv(in.data(), 50'000, MPI_INT, previous, 1, short_lived, &requests[0]);
  MPI_Isend(out.data(), 50'000, MPI_INT, next, 1, short_lived, &requests[1]);
  int one = 1, sum = 0;
  for (int i = 0; i < 4; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, short_lived);
  equal("sum", sum, me.size);
  MPI_Irecv(late.data(), 3, MPI_INT, previous, 2, short_lived, &requests[2]);
  MPI_Isend(news.data(), 3, MPI_INT, next, 2, short_lived, &requests[3]);
  MPI_Comm_free(&short_lived);
  MPI_Barrier(comm);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  equal("long", in.back(), previous);
  equal("short", late[2], 60 + previous);
}

int handled = 0;
MPI_Comm handled_on = MPI_COMM_NULL;
void handle(MPI_Comm* comm, int*, ...) { ++handled, handled_on = *comm; }

/// The program's error handler gets the program's communicator, once an error.
void handlers(MPI_Comm comm) {
  part = "error handlers";
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(own, handler);
  const Place me(own);
  int data = 1, sum = 0;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, own);
  handled = 0;
  equal("refused", MPI_Bcast(&data, 1, MPI_INT, -5, own) != MPI_SUCCESS, 1);
  equal("refused", MPI_Reduce(&data, &sum, 1, MPI_INT, MPI_SUM, me.size, own) != MPI_SUCCESS, 1);
  equal("times", handled, 2);
  equal("communicator", handled_on == own, 1);
  MPI_Errhandler still;
  MPI_Comm_get_errhandler(own, &still);
  equal("the same handler", still == handler, 1);
  MPI_Errhandler_free(&still);
  MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, own);
  equal("still works", sum, me.size);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

int class_of(int code) {
  int kind = 0;
  MPI_Error_class(code, &kind);
  return kind;
}

void errors(MPI_Comm comm) {
  part = "errors";
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  const Place me(own);
  int data = 3, out = 0;
  for (int i = 0; i < 2; ++i) {
    equal("root", class_of(MPI_Bcast(&data, 1, MPI_INT, me.size + 3, own)), MPI_ERR_ROOT);
    equal("count", class_of(MPI_Bcast(&data, -1, MPI_INT, 0, own)), MPI_ERR_COUNT);
    // Which class, the library says; the digest holds it.
    const int kinds[] = {class_of(MPI_Allreduce(&data, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, own)),
                         class_of(MPI_Allreduce(&data, &out, 1, MPI_INT, MPI_OP_NULL, own))};
    equal("refused", kinds[0] != MPI_SUCCESS && kinds[1] != MPI_SUCCESS, 1);
    enter(kinds, sizeof kinds);
    const int one = 1;
    MPI_Allreduce(&one, &out, 1, MPI_INT, MPI_SUM, own);
    equal("still works", out, me.size);
  }
  MPI_Comm_free(&own);
}

/// Private communicators copy no attributes of the program, and freed ones are gone.
void attributes(MPI_Comm comm) {
  part = "attributes";
  int key;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(comm, key, nullptr);
  copies = 0;
  const Place me(comm);
  for (int i = 0; i < 6; ++i) {
    MPI_Comm again;
    MPI_Comm_dup(comm, &again);
    int one = 1, sum = 0;
    for (int k = 0; k < 3; ++k) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again);
    equal("sum", sum, me.size);
    MPI_Barrier(again);
    MPI_Comm_free(&again);
  }
  equal("copies", copies, 6);
  MPI_Comm_delete_attr(comm, key);
  MPI_Comm_free_keyval(&key);
}

}  // namespace

void company(MPI_Comm comm) {
  own_messages(comm);
  progress(comm);
  non_blocking(comm);
  freed_under_messages(comm);
  errors(comm);
  handlers(comm);
  attributes(comm);
}

}  // namespace conformance
