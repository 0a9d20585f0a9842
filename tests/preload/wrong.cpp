// SPDX-License-Identifier: MIT
// wrong [--alone | --apart]: what a program may get wrong with MPI_ERRORS_RETURN. It gets a code, and goes on with all ranks.
#include <cstring>

#include "check.hpp"

namespace {

using namespace conformance;

/// All ranks are together again, and whatever failed is left behind.
void go_on(MPI_Comm comm, const Place& me) {
  for (int i = 0; i < 20; ++i) {
    int mine = me.rank + i, sum = 0, value = me.rank == 0 ? i : -1;
    equal("code", MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    equal("sum", sum, me.size * (me.size - 1) / 2 + i * me.size);
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    equal("value", value, i);
  }
}

MPI_Aint offset = 0;  ///< where elements lie that this rank folds, as seen from the addresses that its operation gets
void add_at_offset(void* from, void* to, int*, MPI_Datatype*) {
  int value = 0, sum = 0;
  std::memcpy(&value, static_cast<char*>(from) + offset, sizeof value);
  std::memcpy(&sum, static_cast<char*>(to) + offset, sizeof sum);
  sum += value;
  std::memcpy(static_cast<char*>(to) + offset, &sum, sizeof sum);
}

/// Rank 0 gives `here` numbers to a sum and the others `there`: an error on each of those, and all are together again.
void expect_no_sum(MPI_Comm comm, const Place& me, int here, int there) {
  const int give[10] = {};
  int get[10];
  const int code = MPI_Allreduce(give, get, me.rank == 0 ? here : there, MPI_INT, MPI_SUM, comm);
  if (me.rank != 0 && code == MPI_SUCCESS) fail("code", code, MPI_ERR_OTHER);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  int data[10] = {}, all[40] = {};
  const auto fresh = [&](const char* name) {
    part = name;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    go_on(comm, me);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
  };

  // --apart: one rank waits in the MPI library; the others know, and end the job.
  if (argc > 1 && std::strcmp(argv[1], "--apart") == 0) {
    MPI_Comm comm = fresh("no data on one rank");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    expect_no_sum(comm, me, 0, 10);
    MPI_Barrier(comm);
    MPI_Finalize();
    return 0;
  }

  // --alone: the MPI library is asked too, and would wait for ever in most of what follows.
  if (argc > 1) {
    MPI_Comm comm = fresh("too short at the root, done both ways");
    const int code = MPI_Gather(data, 10, MPI_INT, all, me.rank == 0 ? 1 : 10, MPI_INT, 0, comm);
    if (me.rank == 0 && code == MPI_SUCCESS) fail("code", code, MPI_ERR_TRUNCATE);
    go_on(comm, me);
    part = "different lengths, done both ways";
    expect_no_sum(comm, me, 1, 10);
    expect_no_sum(comm, me, 10, 1);
    go_on(comm, me);
    MPI_Comm_free(&comm);
    if (me.rank == 0) std::printf("errors on %d ranks: right\n", me.size);
    MPI_Finalize();
    return 0;
  }

  MPI_Comm comm = fresh("different lengths");
  const int code = MPI_Bcast(data, me.rank == 0 ? 1 : 10, MPI_INT, 0, comm);
  if (me.rank != 0) {
    if (code == MPI_SUCCESS) fail("code", code, MPI_ERR_OTHER);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (me.rank == 1) std::printf("MPI_Error_string: %s\n", text);
  }
  go_on(comm, me);
  MPI_Comm_free(&comm);

  // After the first one the MPI library does the calls, and would wait for ever in the second.
  comm = fresh("different lengths, one call after the other");
  expect_no_sum(comm, me, 1, 10);
  expect_no_sum(comm, me, 10, 1);
  expect_no_sum(comm, me, 1, 10);
  go_on(comm, me);
  MPI_Comm_free(&comm);

#ifdef OPEN_MPI
  // What has no data goes to the MPI library, on one rank only. MPICH's own waits for the others there.
  comm = fresh("no data on one rank");
  expect_no_sum(comm, me, 0, 10);
  MPI_Barrier(comm);  // if it was that rank that found out, all hear of it here once more
  go_on(comm, me);
  MPI_Comm_free(&comm);
#endif

  comm = fresh("too short at the root");
  const int short_code = MPI_Gather(data, 10, MPI_INT, all, me.rank == 0 ? 1 : 10, MPI_INT, 0, comm);
  if (me.rank == 0 && short_code == MPI_SUCCESS) fail("code", short_code, MPI_ERR_TRUNCATE);
  go_on(comm, me);
  MPI_Comm_free(&comm);

  comm = fresh("too short on all, and the next call ends the job where it fails");
  for (const int block : {2, 300, 40'000}) {
    const auto bytes = static_cast<std::size_t>(block * me.size);
    std::vector<int> give(bytes, 3), get(bytes, 4);
    const int half = block / 2;
    const int codes[] = {
        MPI_Gather(give.data(), block, MPI_INT, get.data(), half, MPI_INT, 1, comm),
        MPI_Scatter(give.data(), block, MPI_INT, get.data(), me.rank == 1 ? half : block, MPI_INT, 1, comm),
        MPI_Allgather(give.data(), block, MPI_INT, get.data(), half, MPI_INT, comm),
        MPI_Alltoall(give.data(), block, MPI_INT, get.data(), half, MPI_INT, comm)};
    for (int i = 0; i < 4; ++i) {
      const bool expected = me.rank == 1 || i > 1;
      if (expected && codes[i] == MPI_SUCCESS) fail("code", i, MPI_ERR_TRUNCATE);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    int one = 1, sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 1, comm);
    if (me.rank == 1) equal("sum", sum, me.size);
    go_on(comm, me);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  MPI_Comm_free(&comm);

  comm = fresh("a type that nobody has committed");  // which the MPI library says, and nobody has begun anything
  for (int i = 0; i < 3; ++i) {
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    int error_class = MPI_SUCCESS;
    const int uncommitted = MPI_Bcast(data, 1, type, 0, comm);
    MPI_Error_class(uncommitted, &error_class);
    equal("class", error_class, MPI_ERR_TYPE);
    MPI_Type_free(&type);
    go_on(comm, me);
  }
  MPI_Comm_free(&comm);

  comm = fresh("a block that its owner gives and takes in two lengths");
  {
    int give[64], get[64], from[64];
    for (int r = 0; r < me.size; ++r) {
      give[r] = get[r] = 1;
      from[r] = r;
    }
    if (me.rank == 0) give[0] = 2;
    const int two_lengths = MPI_Alltoallv(data, give, from, MPI_INT, all, get, from, MPI_INT, comm);
    if (me.rank == 0 && two_lengths == MPI_SUCCESS) fail("code", two_lengths, MPI_ERR_TRUNCATE);
  }
  go_on(comm, me);
  MPI_Comm_free(&comm);

  comm = fresh("a block of two lengths");
  {
    int give[64], get[64], from[64];
    for (int r = 0; r < me.size; ++r) {
      give[r] = get[r] = 1;
      from[r] = r;
    }
    if (me.rank == 0) give[1] = 2;
    const int two_lengths = MPI_Alltoallv(data, give, from, MPI_INT, all, get, from, MPI_INT, comm);
    if (me.rank == 1 && two_lengths == MPI_SUCCESS) fail("code", two_lengths, MPI_ERR_TRUNCATE);
  }
  go_on(comm, me);
  MPI_Comm_free(&comm);

  comm = fresh("a type that is not committed");  // where it is packed, the root finds out
  {
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    const int raw = MPI_Bcast(data, 1, pair, 0, comm);
    if (raw == MPI_SUCCESS) fail("code", raw, MPI_ERR_TYPE);
    MPI_Type_free(&pair);
  }
  go_on(comm, me);
  MPI_Comm_free(&comm);

  comm = fresh("a call that only one rank makes, and wrong");
  if (me.rank == 0 && MPI_Bcast(data, -1, MPI_INT, 0, comm) == MPI_SUCCESS) fail("code", MPI_SUCCESS, MPI_ERR_COUNT);
  go_on(comm, me);
  MPI_Comm_free(&comm);

  comm = fresh("absolute addresses on one rank");  // right, and only one rank sees it
  MPI_Datatype type = MPI_INT;
  int one = 1, sum = 0, length = 1;
  const bool absolute = me.rank == 1;
  if (absolute) {
    MPI_Get_address(&one, &offset);
    MPI_Type_create_hindexed(1, &length, &offset, MPI_INT, &type);
    MPI_Type_commit(&type);
  }
  MPI_Op add;
  MPI_Op_create(add_at_offset, 1, &add);
  for (int i = 0; i < 20; ++i) {
    MPI_Gather(absolute ? MPI_BOTTOM : &one, 1, type, all, 1, MPI_INT, 0, comm);
    if (me.rank == 0) equal("gathered", all[1], 1);
    MPI_Reduce(absolute ? MPI_BOTTOM : &one, &sum, 1, type, add, 0, comm);
    if (me.rank == 0) equal("sum", sum, me.size);
  }
  MPI_Op_free(&add);
  if (absolute) MPI_Type_free(&type);
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  if (me.rank == 0) std::printf("errors on %d ranks: right\n", me.size);
  MPI_Finalize();
  return 0;
}
