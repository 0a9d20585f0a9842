// SPDX-License-Identifier: MIT
#include "memory_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "run/wait/cores.hpp"

namespace chasqui::preload {
namespace {

/// Reserved at once: a full /dev/shm is found here and not as a bus error later.
int create(const char* name, std::size_t bytes) {
  const int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) return file;
  close(file);
  shm_unlink(name);
  return -1;
}

void* map(int file, std::size_t bytes) {
  if (file < 0) return MAP_FAILED;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory;
}

}  // namespace

std::shared_ptr<run::Board> make_memory_board(MPI_Comm node) {
  static std::atomic<unsigned> made{0};
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(node, &rank);
  PMPI_Comm_size(node, &size);
  const auto shape = run::BoardShape::for_ranks(size, 256 * 1024);  // a program may have very many communicators
  const std::size_t bytes = shape.bytes();
  char name[64] = {};
  void* memory = MAP_FAILED;
  if (rank == 0) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::snprintf(name, sizeof name, "/chasqui-%ld-%u-%lx", static_cast<long>(getpid()), made++,
                  static_cast<unsigned long>(now.tv_nsec));
    memory = map(create(name, bytes), bytes);
  }
  PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, node);
  if (rank != 0) memory = map(shm_open(name, O_RDWR | O_CLOEXEC, 0600), bytes);
  int works = memory != MAP_FAILED ? 1 : 0;
  int everywhere = 0;
  PMPI_Allreduce(&works, &everywhere, 1, MPI_INT, MPI_MIN, node);
  if (rank == 0) shm_unlink(name);
  if (everywhere == 0) {
    if (works != 0) munmap(memory, bytes);
    return nullptr;
  }
  static const run::Cores own = run::process_cores();
  run::Cores cores = own;  // of all ranks on the board
  PMPI_Allreduce(own.mask.data(), cores.mask.data(), static_cast<int>(own.mask.size()), MPI_UINT64_T, MPI_BOR, node);
  PMPI_Allreduce(&own.quota, &cores.quota, 1, MPI_INT, MPI_MIN, node);
  return {new run::Board(memory, shape, rank, cores.count()), [memory, bytes](run::Board* board) {
            delete board;
            munmap(memory, bytes);
          }};
}

}  // namespace chasqui::preload
