// SPDX-License-Identifier: MIT
// between: ranks on several nodes that make different calls. Each gets an error code, in the call or in one of the next; nobody
// waits for ever, and nothing is written behind a buffer.
#include "check.hpp"

namespace {

using namespace conformance;

constexpr int kGuard = -77;
constexpr std::size_t kLong = 100'000;

/// A call that differs from the others' on some rank, and barriers until there is an error.
template <typename Differs>
void expect_error(const char* name, const Place& me, const Differs& differs) {
  part = name;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 5; ++i) MPI_Barrier(comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<int> give(kLong, me.rank), get(2 * kLong, kGuard);
  int code = differs(comm, give.data(), get.data());
  for (int i = 0; i < 3 && code == MPI_SUCCESS; ++i) code = MPI_Barrier(comm);
  if (code == MPI_SUCCESS) fail("code", code, MPI_ERR_OTHER);
  for (std::size_t i = kLong; i < 2 * kLong; ++i) equal("guard", get[i], kGuard);
  if (me.rank != 0) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    std::printf("%s: %s\n", name, text);
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Place me(MPI_COMM_WORLD);
  const bool last = me.rank == me.size - 1;
  if (argc > 1) {  // the last rank leaves a call out and waits in MPI_Finalize
    part = "a call left out";
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
    const int code = last ? MPI_SUCCESS : MPI_Barrier(MPI_COMM_WORLD);
    if (!last && code == MPI_SUCCESS) fail("code", code, MPI_ERR_OTHER);
    if (me.rank == 0) std::printf("calls of %d ranks: told apart\n", me.size);
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
  }
  const auto longer = [&](int here) { return static_cast<int>(kLong) / (last ? here : 1); };
  expect_error("a short broadcast", me,
               [&](MPI_Comm comm, int* give, int*) { return MPI_Bcast(give, last ? 10 : 1, MPI_INT, 0, comm); });
  // 4 and 152 bytes: of 16 tags for all lengths they have the same.
  const bool far = me.rank >= me.size / 2;
  expect_error("a broadcast that is longer on its root's node", me,
               [&](MPI_Comm comm, int* give, int*) { return MPI_Bcast(give, far ? 1 : 38, MPI_INT, 0, comm); });
  // So have 400 000 bytes and these; what the far ranks have room for ends where the guard begins.
  constexpr int kAlike = 50015;
  expect_error("a long broadcast that is longer on its root's node", me, [&](MPI_Comm comm, int* give, int* get) {
    return MPI_Bcast(far ? get + kLong - kAlike : give, far ? kAlike : static_cast<int>(kLong), MPI_INT, 0, comm);
  });
  // What the last rank has room for ends where the guard begins.
  expect_error("a long broadcast", me, [&](MPI_Comm comm, int* give, int* get) {
    return MPI_Bcast(last ? get + kLong - kLong / 2 : give, longer(2), MPI_INT, 0, comm);
  });
  expect_error("a long sum", me, [&](MPI_Comm comm, int* give, int* get) {
    return MPI_Allreduce(give, get + kLong - static_cast<std::size_t>(longer(3)), longer(3), MPI_INT, MPI_SUM, comm);
  });
  expect_error("blocks", me, [&](MPI_Comm comm, int* give, int* get) {
    const int count = last ? 100 : 200;
    return MPI_Alltoall(give, count, MPI_INT, get, count, MPI_INT, comm);
  });
  expect_error("two collectives", me, [&](MPI_Comm comm, int* give, int* get) {
    return last ? MPI_Allgather(give, 1, MPI_INT, get, 1, MPI_INT, comm)
                : MPI_Allreduce(give, get, 1, MPI_INT, MPI_MAX, comm);
  });
  expect_error("two roots", me, [&](MPI_Comm comm, int* give, int*) {
    return MPI_Bcast(give, 1, MPI_INT, last ? 0 : me.size - 1, comm);
  });
  // The root has no further call: it waits in MPI_Finalize.
  part = "the last call";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
  std::vector<int> data(kLong);
  const int code = MPI_Bcast(data.data(), last ? 10 : 20, MPI_INT, 0, MPI_COMM_WORLD);
  if (last && code == MPI_SUCCESS) fail("code", code, MPI_ERR_TRUNCATE);
  if (last) std::printf("calls of %d ranks: told apart\n", me.size);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}
