// SPDX-License-Identifier: MIT
#include "window.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "check.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::mpi {
namespace {

/// Bytes of the third cache; 0 where there is none, or nobody says.
std::size_t last_cache() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::size_t kibibytes = 0;
  file >> kibibytes;
  return kibibytes * 1024;
}

/// What is left where windows usually lie; much where that is somewhere else.
std::size_t window_memory() {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return ~std::size_t{0};
  return static_cast<std::size_t>(found.f_bavail) * found.f_frsize;
}

/// No more than 64 MiB for all ranks, a quarter of the cache, half of the memory.
run::BoardShape shape_for(int ranks, std::size_t ring) {
  auto shape = run::BoardShape::for_ranks(ranks);
  const std::size_t all = std::min(std::size_t{64} << 20, last_cache() / 4);
  const std::size_t memory = window_memory();
  shape.ring = ring;
  while (shape.ring > shape.stage &&
         (shape.ring * static_cast<std::size_t>(ranks) > all || shape.bytes() > memory / 2)) {
    shape.ring /= 2;
  }
  return shape;
}

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
  check(MPI_Bcast(&shape.ring, sizeof shape.ring, MPI_BYTE, 0, node), "MPI_Bcast");
  const MPI_Aint bytes = static_cast<MPI_Aint>(shape.bytes() + 2 * 4096);
  void* mine = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(node, &before);
  MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  int works = MPI_Win_allocate_shared(rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, node, &mine, &window) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(node, before);
  int everywhere = 0;
  MPI_Allreduce(&works, &everywhere, 1, MPI_INT, MPI_MIN, node);
  if (everywhere == 0) {
    if (works != 0) MPI_Win_free(&window);
    return nullptr;
  }
  MPI_Aint length = 0;
  int unit = 0;
  void* base = nullptr;
  check(MPI_Win_shared_query(window, 0, &length, &unit, &base), "MPI_Win_shared_query");
  // Line-aligned inside the window; pages are aligned alike in every process.
  auto address = reinterpret_cast<std::uintptr_t>(base);
  address = (address + 4095) / 4096 * 4096;
  auto* memory = reinterpret_cast<void*>(address);
  // All of it by one rank, although only the beginning must be zero: what is first touched in order lies in order.
  if (rank == 0) std::memset(memory, 0, shape.bytes());
  MPI_Win_fence(0, window);
  MPI_Barrier(node);
  return {new run::Board(memory, shape, rank, cores), [window](run::Board* board) mutable {
            delete board;
            int finalized = 0;
            MPI_Finalized(&finalized);
            if (finalized == 0) MPI_Win_free(&window);
          }};
}

}  // namespace chasqui::mpi
