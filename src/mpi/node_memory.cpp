// SPDX-License-Identifier: MIT
#include "mpi/node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>

#include "mpi/check.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::mpi {
namespace {

constexpr std::size_t kLeastStage = 256 * 1024, kUsualStage = 1024 * 1024;

/// Bytes of the third cache; 0 where there is none, or nobody says.
std::size_t last_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::size_t kibibytes = 0;
  file >> kibibytes;
  return kibibytes * 1024;
}

/// What is left for shared memory; much where nobody says.
std::size_t free_memory() {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return ~std::size_t{0};
  return static_cast<std::size_t>(found.f_bavail) * found.f_frsize;
}

/// Rings have no more than 64 MiB for all ranks, a quarter of the cache, half of the memory.
run::BoardShape shape_for(int ranks, std::size_t ring) {
  auto shape = run::BoardShape::for_ranks(ranks, std::clamp(ring, kLeastStage, kUsualStage));
  const std::size_t all = std::min(std::size_t{64} << 20, last_cache() / 4);
  const std::size_t memory = free_memory();
  shape.ring = ring;
  while (shape.ring > shape.stage &&
         (shape.ring * static_cast<std::size_t>(ranks) > all || shape.bytes() > memory / 2)) {
    shape.ring /= 2;
  }
  return shape;
}

/// Memory that has a name until all have mapped it. All of it is reserved by one rank: a full /dev/shm is found here and
/// not as a bus error later, and what is first touched in order lies in order.
struct NamedMemory {
  char name[64] = {};  ///< empty: there is none
  std::size_t ring = 0;

  NamedMemory() = default;
  explicit NamedMemory(const run::BoardShape& shape) : ring(shape.ring) {
    static std::atomic<unsigned> made{0};
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::snprintf(name, sizeof name, "/chasqui-%ld-%u-%lx", static_cast<long>(getpid()), made++,
                  static_cast<unsigned long>(now.tv_nsec));
    const int file = shm_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    const bool reserved = file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(shape.bytes())) == 0;
    if (file >= 0) close(file);
    if (file >= 0 && !reserved) shm_unlink(name);
    if (!reserved) name[0] = '\0';
  }

  /// With all pages in this process's page table: a long ring brings a call new pages for a long time, and 60 faults take as
  /// long as an all-gather of 16 KiB among 16 ranks. MAP_FAILED where that cannot be done.
  void* map(std::size_t bytes) const {
    if (name[0] == '\0') return MAP_FAILED;
    const int file = shm_open(name, O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return MAP_FAILED;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    close(file);
    return memory;
  }
};

}  // namespace

int cores_of(MPI_Comm node) {
  run::Cores cores = run::process_cores();
  check(
      MPI_Allreduce(MPI_IN_PLACE, cores.mask.data(), static_cast<int>(cores.mask.size()), MPI_UINT64_T, MPI_BOR, node),
      "MPI_Allreduce");
  check(MPI_Allreduce(MPI_IN_PLACE, &cores.quota, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  return cores.count();
}

std::shared_ptr<run::Board> make_board(MPI_Comm node, int cores, std::size_t ring) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  auto shape = shape_for(size, ring);
  NamedMemory named;
  if (rank == 0) named = NamedMemory(shape);
  check(MPI_Bcast(&named, sizeof named, MPI_BYTE, 0, node), "MPI_Bcast");
  shape.ring = named.ring;
  const std::size_t bytes = shape.bytes();
  void* memory = named.map(bytes);
  const int works = memory != MAP_FAILED ? 1 : 0;
  int everywhere = 0;
  const int code = MPI_Allreduce(&works, &everywhere, 1, MPI_INT, MPI_MIN, node);
  if (rank == 0 && named.name[0] != '\0') shm_unlink(named.name);
  if (everywhere == 0) {
    if (works != 0) munmap(memory, bytes);
    check(code, "MPI_Allreduce");
    return nullptr;
  }
  return {new run::Board(memory, shape, rank, cores), [memory, bytes](run::Board* board) {
            delete board;
            munmap(memory, bytes);
          }};
}

}  // namespace chasqui::mpi
