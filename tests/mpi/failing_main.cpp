// SPDX-License-Identifier: MIT
// Things that fail: each shm_open, posix_fallocate and mmap of ours, each allocation and each call of MPI fails once in turn, on
// each rank. Without its memory a communicator goes by messages, or finds other memory, on all ranks alike. After anything else
// the results are right, or every rank gets an Error, and nobody waits for ever. The linker brings those calls here (--wrap).
// mpirun -np P mpi_failing memory | allocations | calls [board | messages | nodes [every]]; every 20th alone saves time.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../failing_memory.hpp"
#include "../failing_mpi.hpp"
#include "../failing_new.hpp"
#include "../fails_once.hpp"
#include "../patience.hpp"
#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"

static bool heard_of_failure = false;  ///< the first time MPI_Recv fails

extern "C" {
int __real_open(const char* name, int flags, ...);
int __wrap_open(const char* name, int flags, mode_t mode);
int __real_shm_open(const char* name, int flags, mode_t mode);
int __wrap_shm_open(const char* name, int flags, mode_t mode);

int __wrap_open(const char* name, int flags, mode_t mode) {
  if (!fails(Class::open)) return __real_open(name, flags, mode);
  errno = EMFILE;
  return -1;
}
int __wrap_shm_open(const char* name, int flags, mode_t mode) {
  if (!fails(Class::open)) return __real_shm_open(name, flags, mode);
  errno = EMFILE;
  return -1;
}

FAILS_AFTERWARDS(MPI_Allgather, (const void* a, int b, MPI_Datatype c, void* d, int e, MPI_Datatype f, MPI_Comm g),
                 (a, b, c, d, e, f, g))
FAILS_INSTEAD(MPI_Allreduce, (const void* a, void* b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f), (a, b, c, d, e, f))
FAILS_AFTERWARDS(MPI_Bcast, (void* a, int b, MPI_Datatype c, int d, MPI_Comm e), (a, b, c, d, e))
FAILS_INSTEAD(MPI_Comm_create_keyval,
              (MPI_Comm_copy_attr_function * a, MPI_Comm_delete_attr_function* b, int* c, void* d), (a, b, c, d))
FAILS_INSTEAD(MPI_Comm_set_attr, (MPI_Comm a, int b, void* c), (a, b, c))
FAILS_AFTERWARDS(MPI_Comm_dup, (MPI_Comm a, MPI_Comm* b), (a, b))
FAILS_AFTERWARDS(MPI_Comm_split, (MPI_Comm a, int b, int c, MPI_Comm* d), (a, b, c, d))
FAILS_AFTERWARDS(MPI_Comm_split_type, (MPI_Comm a, int b, int c, MPI_Info d, MPI_Comm* e), (a, b, c, d, e))
FAILS_INSTEAD(MPI_Isend, (const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),
              (a, b, c, d, e, f, g))
FAILS_INSTEAD(MPI_Irecv, (void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g),
              (a, b, c, d, e, f, g))
FAILS_INSTEAD(MPI_Iprobe, (int a, int b, MPI_Comm c, int* d, MPI_Status* e), (a, b, c, d, e))
int __real_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int __wrap_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int __wrap_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {  // a message that comes with an error
  const int code = __real_MPI_Test(request, flag, status);
  return *flag != 0 && fails(Class::call, "MPI_Test") ? MPI_ERR_OTHER : code;
}
int __real_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
int __wrap_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
int __wrap_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const int code = __real_MPI_Request_get_status(request, flag, status);
  return *flag != 0 && fails(Class::call, "MPI_Request_get_status") ? MPI_ERR_OTHER : code;
}
int __real_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g);
int __wrap_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g);
int __wrap_MPI_Recv(void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Status* g) {
  return std::exchange(heard_of_failure, true) ? __real_MPI_Recv(a, b, c, d, e, f, g) : MPI_ERR_OTHER;
}
FAILS_AFTERWARDS(MPI_Wait, (MPI_Request * a, MPI_Status* b), (a, b))
}

namespace chasqui::mpi {
namespace {

/// What is tried now: said where it does not end.
char doing[100] = "";
extern "C" void say_and_end(int) {
  static_cast<void>(!write(STDERR_FILENO, doing, std::strlen(doing)));
  static_cast<void>(!write(STDERR_FILENO, fault.name, std::strlen(fault.name)));
  _exit(1);
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error("{}", what);
}

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Of all ranks together. Nothing fails in here.
int sum_of_all(int mine) {
  fault.countdown = 0;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// One communicator while the n-th call of a class fails on a rank. False: there is no such call.
bool made_with(Class which, int n, int where) {
  const int rank = rank_of_world();
  alarm(30 * chasqui::kPatience);
  fault = {which, rank == where ? n : 0, 0, ""};
  heard_of_failure = false;
  const auto comm = make_comm(MPI_COMM_WORLD);
  const bool happened = sum_of_all(fault.failed) != 0;
  const int boards = sum_of_all(comm->topology().board ? 1 : 0);
  expect(boards == comm->size() || (happened && boards == 0), "a board on some ranks, or none where nothing failed");
  const std::vector<long> ones(20'000, 1);
  std::vector<long> sums(ones.size());
  comm->allreduce(ones, sums);
  expect(sums.back() == comm->size() && comm->allreduce(1) == comm->size(), "a sum is wrong");
  const auto part = comm->split(0, -rank);
  expect(part->allreduce(1) == comm->size(), "a part is wrong");
  return happened;
}

/// The life of a communicator while the n-th call of a class fails on a rank. False: there is no such call.
bool survived(Class which, int n, int where, const Options& options) {
  const int rank = rank_of_world();
  const std::vector<long> few(3, 1), ones(12'000, 1);
  std::vector<long> short_sums(few.size()), sums(ones.size()), prefix(few.size()), of_part(few.size());
  std::string heard;
  bool right = true;
  alarm(30 * chasqui::kPatience);
  std::snprintf(doing, sizeof doing, "hangs: number %d of rank %d\n", n, where);
  fault = {which, rank == where ? n : 0, 0, ""};
  heard_of_failure = false;
  try {
    const auto comm = make_comm(MPI_COMM_WORLD, options);
    comm->allreduce(few, short_sums);
    auto request = comm->iallreduce(ones, sums);
    comm->scan(few, prefix);
    request.wait();
    const int left = std::exchange(fault.countdown, 0);  // MPI_Comm_split waits for everybody, whatever has happened
    const auto part = comm->split(0, -rank);
    fault.countdown = left;
    part->allreduce(few, of_part);
    fault.countdown = 0;
    comm->barrier();  // whoever failed does not come here
    const long size = comm->size();
    right = short_sums.back() == size && sums.front() == size && sums.back() == size &&
            prefix.back() == comm->rank() + 1 && of_part.back() == size;
  } catch (const std::exception& error) {
    heard = error.what();
  }
  const int told = sum_of_all(heard.empty() ? 0 : 1), happened = sum_of_all(fault.failed);
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string what = fmt::format("{} {} of rank {}", fault.name, n, where);
  expect(right, what + ": a result is wrong");
  expect(told == 0 || told == size, fmt::format("{}: {} of {} ranks were told; here \"{}\"", what, told, size, heard));
  expect(told == 0 || happened != 0, "an error without a failure: " + heard);
  return happened != 0;
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  MPI_Init(&argc, &argv);
  std::signal(SIGALRM, say_and_end);
  const std::string what = argc > 1 ? argv[1] : "", way = argc > 2 ? argv[2] : "";
  Options options;
  options.slots = way != "messages";
  options.pretend_node_size = way == "nodes" ? 2 : 0;
  options.patience = chasqui::run::Patience{0.2, 0};
  const int step = argc > 3 ? std::atoi(argv[3]) : 1;
  int size = 1, failures = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    for (int where = 0; where < size; ++where) {
      if (what == "memory") {
        for (const Class which : {Class::open, Class::reserve, Class::map})
          for (int n = 1; made_with(which, n, where); ++n) ++failures;
      } else {
        const Class which = what == "calls" ? Class::call : Class::allocate;
        for (int n = 1 + where; survived(which, n, where, options); n += step) ++failures;
      }
    }
    expect(failures >= 3 + size,
           "hardly anything failed");  // memory: opened twice and reserved on one rank, mapped on all
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  if (rank_of_world() == 0) std::printf("%d failures survived\n", failures);
  MPI_Finalize();
  return 0;
}
