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
#include <vector>

#include "mpi/check.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::mpi {
namespace {

constexpr std::size_t kLeastStage = 256 * 1024, kUsualStage = 1024 * 1024, kGenerous = std::size_t{128} << 20;

/// Bytes of the third cache; 0 where there is none, or nobody says.
std::size_t last_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::size_t kibibytes = 0;
  file >> kibibytes;
  return kibibytes * 1024;
}

/// What boards may still take of the shared memory; much where nobody says. The MPI library has files there too, which it fills
/// as it goes, and dies of a bus error where it cannot: half of a small memory, 256 MiB of a large one, is left to it.
std::size_t free_memory() {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return ~std::size_t{0};
  const std::size_t left = static_cast<std::size_t>(found.f_bavail) * found.f_frsize;
  const std::size_t kept =
      std::min(static_cast<std::size_t>(found.f_blocks) * found.f_frsize / 2, std::size_t{256} << 20);
  return left - std::min(left, kept);
}

std::atomic<std::size_t> held{0};  ///< bytes of the boards that this process has

/// Rings have no more than 64 MiB for all ranks and a quarter of the cache. Boards with more than the least stages, all that
/// this process has, keep to kGenerous bytes, and each of them to half of what free_memory() says.
run::BoardShape shape_for(int ranks, std::size_t ring) {
  auto shape = run::BoardShape::for_ranks(ranks, std::clamp(ring, kLeastStage, kUsualStage));
  const std::size_t all = std::min(std::size_t{64} << 20, last_cache() / 4);
  const std::size_t room = std::min(free_memory() / 2, kGenerous - std::min(kGenerous, held.load()));
  if (shape.bytes() > room) return run::BoardShape::for_ranks(ranks, kLeastStage);
  shape.ring = ring;
  while (shape.ring > shape.stage && (shape.ring * static_cast<std::size_t>(ranks) > all || shape.bytes() > room)) {
    shape.ring /= 2;
  }
  return shape;
}

/// Memory that has a name until all have mapped it. All of it is reserved by one rank: a full /dev/shm is found here and
/// not as a bus error later, and what is first touched in order lies in order.
struct NamedMemory {
  char name[64] = {};  ///< empty: there is none
  std::size_t stage = 0, ring = 0;

  NamedMemory() = default;
  explicit NamedMemory(const run::BoardShape& shape) : stage(shape.stage), ring(shape.ring) {
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

int cores_of(const NodeRanks& node) {
  run::Cores cores = run::process_cores();
  int words = static_cast<int>(cores.mask.size());  // most machines need one or two of them
  while (words > 1 && cores.mask[static_cast<std::size_t>(words) - 1] == 0) --words;
  check(MPI_Allreduce(MPI_IN_PLACE, &words, 1, MPI_INT, MPI_MAX, node.comm), "MPI_Allreduce");
  const auto length = static_cast<std::size_t>(words);
  std::vector<std::uint64_t> mine(cores.mask.begin(), cores.mask.begin() + words);
  mine.push_back(static_cast<std::uint64_t>(cores.quota));
  const auto all = node.gather(mine.data(), mine.size());
  for (std::size_t at = 0; at < all.size(); at += length + 1) {
    for (std::size_t i = 0; i < length; ++i) cores.mask[i] |= all[at + i];
    cores.quota = std::min(cores.quota, static_cast<int>(all[at + length]));
  }
  return cores.count();
}

std::shared_ptr<run::Board> make_board(const NodeRanks& node, int cores, std::size_t ring) {
  auto shape = shape_for(node.size(), ring);
  NamedMemory mine;
  if (node.rank == 0 && shape.bytes() <= free_memory()) mine = NamedMemory(shape);
  const NamedMemory named = node.gather(&mine).front();
  shape.stage = named.stage;
  shape.ring = named.ring;
  const std::size_t bytes = shape.bytes();
  void* memory = named.map(bytes);
  const bool works = memory != MAP_FAILED;
  const auto forget = [&] {
    if (node.rank == 0 && named.name[0] != '\0') shm_unlink(named.name);
  };
  bool everywhere = false;
  try {
    everywhere = node.agreed(works);
  } catch (...) {
    forget();
    if (works) munmap(memory, bytes);
    throw;
  }
  forget();
  if (!everywhere) {
    if (works) munmap(memory, bytes);
    return nullptr;
  }
  held += bytes;
  return {new run::Board(memory, shape, node.rank, cores), [memory, bytes](run::Board* board) {
            delete board;
            held -= bytes;
            munmap(memory, bytes);
          }};
}

}  // namespace chasqui::mpi
