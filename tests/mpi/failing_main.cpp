// SPDX-License-Identifier: MIT
// Node memory that cannot be had: every shm_open, posix_fallocate and mmap of ours fails once in turn, on each rank, and the
// communicator that is being made goes by messages, on all ranks. The linker brings those calls here (--wrap).
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "chasqui/base/error.hpp"
#include "chasqui/mpi/comm.hpp"
#include "chasqui/run/choose.hpp"

namespace {

enum class Class { open, reserve, map };
struct {
  Class which = Class::open;
  int countdown = 0;  ///< the call that fails; 0: none does
  int failed = 0;
} fault;

bool fails(Class which) {
  if (which != fault.which || fault.countdown == 0 || --fault.countdown != 0) return false;
  ++fault.failed;
  return true;
}

}  // namespace

extern "C" {
int __real_shm_open(const char* name, int flags, mode_t mode);
int __real_posix_fallocate(int file, off_t from, off_t bytes);
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t from);
int __wrap_shm_open(const char* name, int flags, mode_t mode);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t from);

int __wrap_shm_open(const char* name, int flags, mode_t mode) {
  if (!fails(Class::open)) return __real_shm_open(name, flags, mode);
  errno = EMFILE;
  return -1;
}
int __wrap_posix_fallocate(int file, off_t from, off_t bytes) {
  return fails(Class::reserve) ? ENOSPC : __real_posix_fallocate(file, from, bytes);
}
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int file, off_t from) {
  if (!fails(Class::map)) return __real_mmap(at, bytes, protection, flags, file, from);
  errno = ENOMEM;
  return MAP_FAILED;
}
}

namespace chasqui::mpi {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error("{}", what);
}

/// How many calls of the class failed, on all ranks together.
int failed_everywhere() {
  int all = 0;
  MPI_Allreduce(&fault.failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// One communicator while the n-th call of a class fails on a rank. False: there is no such call.
bool made_with(Class which, int n, int where) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fault = {which, rank == where ? n : 0, 0};
  const auto comm = make_comm(MPI_COMM_WORLD);
  const bool happened = failed_everywhere() != 0;
  expect(comm->topology().board == !happened, "a board where memory failed, or none where it did not");
  const std::vector<long> ones(20'000, 1);
  std::vector<long> sums(ones.size());
  comm->allreduce(ones, sums);
  expect(sums.back() == comm->size() && comm->allreduce(1) == comm->size(), "a sum is wrong");
  const auto part = comm->split(0, -rank);
  expect(part->allreduce(1) == comm->size(), "a part is wrong");
  return happened;
}

}  // namespace
}  // namespace chasqui::mpi

int main(int argc, char** argv) {
  using namespace chasqui::mpi;
  MPI_Init(&argc, &argv);
  alarm(50);  // a hang is a failure
  int size = 1, rank = 0, failures = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    for (const Class which : {Class::open, Class::reserve, Class::map}) {
      for (int where = 0; where < size; ++where) {
        for (int n = 1; made_with(which, n, where); ++n) ++failures;
      }
    }
    expect(failures >= 3 + size, "hardly anything failed");  // opened twice and reserved on one rank, mapped on all
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  if (rank == 0) std::printf("%d failures survived\n", failures);
  MPI_Finalize();
  return 0;
}
