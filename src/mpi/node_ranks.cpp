// SPDX-License-Identifier: MIT
#include "mpi/node_ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "mpi/check.hpp"

namespace chasqui::mpi {
namespace {

std::vector<int> members_of(const std::vector<int>& nodes, int own) {
  std::vector<int> members;
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    if (nodes[r] == nodes[static_cast<std::size_t>(own)]) members.push_back(static_cast<int>(r));
  }
  return members;
}

struct Name {
  char text[64] = {};  ///< empty: there is none
};

/// Makes the memory and reserves all of it: what is first touched in order lies in order.
Name make_memory(std::size_t bytes) {
  static std::atomic<unsigned> made{0};
  Name name;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::snprintf(name.text, sizeof name.text, "/chasqui-%ld-%u-%lx", static_cast<long>(getpid()), made++,
                static_cast<unsigned long>(now.tv_nsec));
  const int file = shm_open(name.text, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return {};
  const bool reserved = posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0;
  close(file);
  if (!reserved) shm_unlink(name.text);
  return reserved ? name : Name{};
}

}  // namespace

NodeRanks::NodeRanks(MPI_Comm all, const std::vector<int>& nodes, int own)
    : NodeRanks(all, static_cast<int>(nodes.size()), members_of(nodes, own), own) {}

NodeRanks::NodeRanks(MPI_Comm all, int ranks, std::vector<int> members, int own)
    : run::NodeRanks(static_cast<int>(std::find(members.begin(), members.end(), own) - members.begin()),
                     static_cast<int>(members.size())),
      comm_(all), ranks_(ranks), members_(std::move(members)) {}

int NodeRanks::most(int mine) {
  int everywhere = 0;
  check(MPI_Allreduce(&mine, &everywhere, 1, MPI_INT, MPI_MAX, comm_), "MPI_Allreduce");
  return everywhere;
}

void NodeRanks::gather_bytes(const void* mine, std::size_t bytes, void* all) {
  std::vector<std::byte> everywhere(bytes * static_cast<std::size_t>(ranks_));
  const int length = static_cast<int>(bytes);
  check(MPI_Allgather(mine, length, MPI_BYTE, everywhere.data(), length, MPI_BYTE, comm_), "MPI_Allgather");
  auto* to = static_cast<std::byte*>(all);
  for (const int r : members_) {
    std::memcpy(to, everywhere.data() + bytes * static_cast<std::size_t>(r), bytes);
    to += bytes;
  }
}

int NodeRanks::open_memory(std::size_t bytes) {
  Name mine;
  if (rank() == 0 && bytes != 0) mine = make_memory(bytes);
  const struct Forget {
    ~Forget() {
      if (name.text[0] != '\0') shm_unlink(name.text);
    }
    Name name;
  } at_the_end{mine};
  const Name name = gather(&mine).front();
  const int file = name.text[0] == '\0' ? -1 : shm_open(name.text, O_RDWR | O_CLOEXEC, 0600);
  try {
    most(0);  // all have opened it
  } catch (...) {
    if (file >= 0) close(file);
    throw;
  }
  return file;
}

std::size_t NodeRanks::free_memory() const {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return ~std::size_t{0};
  const std::size_t left = static_cast<std::size_t>(found.f_bavail) * found.f_frsize;
  const std::size_t kept =
      std::min(static_cast<std::size_t>(found.f_blocks) * found.f_frsize / 2, std::size_t{256} << 20);
  return left - std::min(left, kept);
}

}  // namespace chasqui::mpi
