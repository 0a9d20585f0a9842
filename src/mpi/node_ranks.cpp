// SPDX-License-Identifier: MIT
#include "mpi/node_ranks.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/reserve.hpp"

namespace chasqui::mpi {
namespace {

std::vector<int> members_of(const std::vector<int>& nodes, int own) {
  std::vector<int> members;
  for (std::size_t r = 0; r < nodes.size(); ++r) {
    if (nodes[r] == nodes[static_cast<std::size_t>(own)]) members.push_back(static_cast<int>(r));
  }
  return members;
}

/// Where others can open the memory, and how they know that it is this one.
struct Place {
  char path[64] = {};  ///< empty: there is none
  bool named = false;  ///< a name of shm_open()
  std::uint64_t device = 0, number = 0;
};

/// An open file, closed at the end; its name, if it has one, is taken away then.
struct OpenFile {
  OpenFile() = default;
  ~OpenFile() {
    if (file >= 0) close(file);
    if (made && place.named && place.path[0] != '\0') shm_unlink(place.path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  bool is(const Place& wanted) const {
    struct stat found {};
    return file >= 0 && fstat(file, &found) == 0 && found.st_dev == wanted.device && found.st_ino == wanted.number;
  }
  int release() { return std::exchange(file, -1); }

  int file = -1;
  bool made = false;  ///< here
  Place place;
};

/// All of it is reserved: what is first touched in order lies in order.
void make_memory(OpenFile& memory, std::size_t bytes, bool named) {
  static std::atomic<unsigned> made{0};
  Place& place = memory.place;
  memory.made = true;
  if (named) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::snprintf(place.path, sizeof place.path, "/chasqui-%ld-%u-%lx", static_cast<long>(getpid()), made++,
                  static_cast<unsigned long>(now.tv_nsec));
    memory.file = shm_open(place.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  } else {
    memory.file = open("/dev/shm", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    std::snprintf(place.path, sizeof place.path, "/proc/%ld/fd/%d", static_cast<long>(getpid()), memory.file);
  }
  struct stat found {};
  place.named = named && memory.file >= 0;
  if (memory.file >= 0 && reserve(memory.file, 0, bytes) == 0 && fstat(memory.file, &found) == 0) {
    place.device = found.st_dev;
    place.number = found.st_ino;
    return;
  }
  if (place.named) shm_unlink(place.path);
  place = {};
  close(memory.release());
}

}  // namespace

NodeRanks::NodeRanks(Together& all, const std::vector<int>& nodes) : NodeRanks(members_of(nodes, all.rank()), all) {}

NodeRanks::NodeRanks(std::vector<int> members, Together& all)
    : run::NodeRanks(static_cast<int>(std::find(members.begin(), members.end(), all.rank()) - members.begin()),
                     static_cast<int>(members.size())),
      all_(all), members_(std::move(members)) {}

void NodeRanks::gather_bytes(const void* mine, std::size_t bytes, void* all) {
  std::vector<std::byte> everywhere(bytes * static_cast<std::size_t>(all_.size()));
  all_.most();
  all_.talk().gather(mine, bytes, everywhere.data());
  auto* to = static_cast<std::byte*>(all);
  for (const int r : members_) {
    std::memcpy(to, everywhere.data() + bytes * static_cast<std::size_t>(r), bytes);
    to += bytes;
  }
}

int NodeRanks::open_memory(std::size_t bytes) {
  for (const bool named : {false, true}) {
    OpenFile memory;
    if (rank() == 0 && bytes != 0) make_memory(memory, bytes, named);
    const Place place = gather(&memory.place).front();
    if (rank() != 0 && place.path[0] != '\0') {
      memory.file = place.named ? shm_open(place.path, O_RDWR | O_CLOEXEC, 0600) : open(place.path, O_RDWR | O_CLOEXEC);
    }
    const bool none = rank() == 0 ? bytes == 0 : place.path[0] == '\0';
    if (agreed(none || memory.is(place))) return memory.release();
  }
  return -1;
}

std::size_t free_node_memory() {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return ~std::size_t{0};
  const std::size_t left = static_cast<std::size_t>(found.f_bavail) * found.f_frsize;
  const std::size_t kept =
      std::min(static_cast<std::size_t>(found.f_blocks) * found.f_frsize / 2, std::size_t{256} << 20);
  return left - std::min(left, kept);
}

}  // namespace chasqui::mpi
