// SPDX-License-Identifier: MIT
// Each call of MPI, or each allocation, fails once in turn on each rank of a bulk-synchronous program. It ends right on all ranks, or
// with an Error on all of them, or the job ends with a reason (failing.sh begins again behind that one). The linker brings the
// calls here (--wrap).
//   mpirun -np P bsp_failing_… calls | allocations  NODE_SIZE  EVERY  [throws [RANK NUMBER]]
// throws: rank 1 throws by itself, and the failures meet a program that ends badly.
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../failing_mpi.hpp"
#include "../failing_new.hpp"
#include "../fails_once.hpp"
#include "../patience.hpp"
#include "chasqui/bsp/mpi.hpp"

static struct { int where = 0, number = 0; } tried;  ///< whose call fails, and which
static int survivals = 0;

extern "C" {
FAILS_AFTERWARDS(MPI_Allgather, (const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g),
                 (a, b, c, d, e, f, g))
FAILS_INSTEAD(MPI_Allreduce, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))
FAILS_AFTERWARDS(MPI_Bcast, (void* a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))
FAILS_AFTERWARDS(MPI_Comm_dup, (MPI_Comm a, MPI_Comm* b), (a, b))
FAILS_AFTERWARDS(MPI_Comm_free, (MPI_Comm * a), (a))
FAILS_INSTEAD(MPI_Comm_set_errhandler, (MPI_Comm a, MPI_Errhandler b), (a, b))
FAILS_AFTERWARDS(MPI_Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e), (a, b, c, d, e))
FAILS_INSTEAD(MPI_Get_count, (const MPI_Status* a, MPI_Datatype b, int* c), (a, b, c))
FAILS_INSTEAD(MPI_Isend, (const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),
              (a, b, c, d, e, f, g))
FAILS_INSTEAD(MPI_Recv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g),
              (a, b, c, d, e, f, g))
int __real_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int __wrap_MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {  // those that find something
  const int code = __real_MPI_Iprobe(from, tag, comm, flag, status);
  if (*flag == 0 || !fails(Class::call, "MPI_Iprobe")) return code;
  *flag = 0;
  return MPI_ERR_OTHER;
}
int __real_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int __wrap_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int __wrap_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {  // a message that may be lost
  const int code = __real_MPI_Test(request, flag, status);
  return *flag != 0 && fails(Class::call, "MPI_Test") ? MPI_ERR_OTHER : code;
}
int __real_MPI_Abort(MPI_Comm comm, int code);
int __wrap_MPI_Abort(MPI_Comm comm, int code);
int __wrap_MPI_Abort(MPI_Comm comm, int code) {
  if (fault.failed != 0) {
    std::printf("%d failures survived\njob ended: %d %d %s\n", survivals, tried.where, tried.number, fault.name);
    std::fflush(stdout);
    usleep(600'000);  // the launcher drops what it has not read
  }
  return __real_MPI_Abort(comm, code);
}
void* __real_realloc(void* memory, std::size_t bytes);
void* __wrap_realloc(void* memory, std::size_t bytes);
void* __wrap_realloc(void* memory, std::size_t bytes) {  // buffers grow by it
  return fails(Class::allocate, "realloc") ? nullptr : __real_realloc(memory, bytes);
}
}

namespace {

using namespace chasqui::bsp;

/// What is tried now: said where it does not end.
char doing[100] = "";
extern "C" void say_and_end(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  static_cast<void>(!write(STDERR_FILENO, fault.name, std::strlen(fault.name)));
  _exit(1);
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "FAILED: %s\n", why.c_str());
  fault.failed = 0;
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Of all ranks together. Nothing fails in here.
int sum_of_all(int mine) {
  fault.countdown = 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// One program while the n-th call of a class fails on a rank. False: there is no such call.
bool survived(Class which, int n, int where, int node_size, bool throws) {
  const int rank = mpi_rank(), size = mpi_size();
  std::string heard;
  long got = 0;
  std::size_t supersteps = 0;
  const Program program = [&](World& w) {
    const int next = (w.rank() + 1) % w.size();
    w.send(next, 1L);
    w.sync();
    for (const auto& message : w.received<long>()) got += message.value();
    if (throws && w.rank() == 1) throw chasqui::Error("on purpose");
    for (int i = 0; i < 20'000; ++i) w.send(next, 2L);  // longer than what MPI sends without asking
    w.sync();
    for (const auto& message : w.received<long>()) got += message.value();
    World part = w.split(2);
    part.send(0, 3L);
    part.sync();
  };
  alarm(30 * chasqui::kPatience);
  std::snprintf(doing, sizeof doing, "hangs: number %d of rank %d\n", n, where);
  tried = {where, n};
  fault = {which, rank == where ? n : 0, 0, ""};
  try {
    const Ledger ledger = run_mpi(program, {.pretend_node_size = node_size});
    supersteps = ledger.machines.front().supersteps.size();
    fault.countdown = 0;
  } catch (const std::exception& error) {
    fault.countdown = 0;
    heard = error.what();
  }
  const int told = sum_of_all(heard.empty() ? 0 : 1), happened = sum_of_all(fault.failed);
  const std::string what = fmt::format("{} {} of rank {}", fault.name, n, where);
  if (told != 0 && told != size)
    give_up(fmt::format("{}: {} of {} ranks were told; on rank {} \"{}\"", what, told, size, rank, heard));
  if (told == 0 && (got != 40'001 || supersteps != 2 || throws))
    give_up(fmt::format("{}: a result is wrong: received {}, {} supersteps", what, got, supersteps));
  if (told != 0 && happened == 0 && !throws) give_up("an error without a failure: " + heard);
  return happened != 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int rank = mpi_rank(), size = mpi_size();
  std::signal(SIGALRM, say_and_end);
  if (argc < 4) give_up("what, a node's size and a step");
  const Class which = std::string(argv[1]) == "calls" ? Class::call : Class::allocate;
  const int node_size = std::atoi(argv[2]), every = std::atoi(argv[3]);
  const bool throws = argc > 4 && std::strcmp(argv[4], "throws") == 0;
  const int first = argc > 6 ? std::atoi(argv[5]) : 0;
  int number = argc > 6 ? std::atoi(argv[6]) : 1;
  for (int where = first; where < size; ++where) {
    for (; survived(which, number, where, node_size, throws); number += every) ++survivals;
    number = 2 + where;  // another of each `every`
  }
  if (rank == 0) std::printf("%d failures survived\n", survivals);
  return 0;
}
