// SPDX-License-Identifier: MIT
#include "run/board/lent_pages.hpp"

#include "chasqui/base/error.hpp"
#include "run/board/declined.hpp"
#include "run/board/node_ranks.hpp"

#if defined(__linux__)
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#endif

namespace chasqui::run {

#if defined(__linux__)
namespace {

constexpr int kMostRanks = 64;         ///< a rank has two descriptors for each other one
constexpr int kRoom = 128 * 1024;      ///< bytes that a pipe shall hold, if its pages are whole
constexpr int kLeastRoom = 64 * 1024;  ///< a pipe of a user who has many holds a page or two
constexpr rlim_t kShare = 4;           ///< of the descriptors that a process may have, one in so many

std::atomic<rlim_t> descriptors{0};  ///< descriptors of all LentPages of this process

void close_all(const std::vector<int>& files) {
  for (const int file : files) {
    if (file < 0) continue;
    close(file);
    --descriptors;
  }
}

/// A call of the kernel that never waits: 0 where it would.
template <typename Move>
ssize_t at_once(const Move& move) {
  for (;;) {
    const ssize_t moved = move();
    if (moved >= 0 || errno != EINTR) return moved < 0 && errno == EAGAIN ? 0 : moved;
  }
}

/// How others find a pipe of this rank.
struct PipeEnd {
  std::uint64_t inode;  ///< nothing else has it: a number of a process may mean another one there
  int process;
  int file;
};

/// The pipe itself if this is one; 0 if not.
std::uint64_t inode_of(int file) {
  struct stat what {};
  return file >= 0 && fstat(file, &what) == 0 && S_ISFIFO(what.st_mode) ? what.st_ino : 0;
}

/// Another descriptor of it; -1 if there is none.
int open_end(const PipeEnd& end, int how) {
  const std::string path = "/proc/" + std::to_string(end.process) + "/fd/" + std::to_string(end.file);
  const int file = open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  if (inode_of(file) != end.inode) {
    close(file);
    return -1;
  }
  ++descriptors;
  return file;
}

/// A pipe, both ends in one descriptor, so that it never is without a reader; -1 if there is none, or a short one.
int make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  fcntl(ends[1], F_SETPIPE_SZ, kRoom);
  const bool roomy = fcntl(ends[1], F_GETPIPE_SZ) >= kLeastRoom;
  const int both = roomy ? open_end({inode_of(ends[1]), getpid(), ends[1]}, O_RDWR) : -1;
  close(ends[0]);
  close(ends[1]);
  return both;
}

bool may_hold(int ranks) {
  rlimit most{};
  if (ranks > kMostRanks || getrlimit(RLIMIT_NOFILE, &most) != 0) return false;
  return most.rlim_cur == RLIM_INFINITY || descriptors + 2 * static_cast<rlim_t>(ranks) <= most.rlim_cur / kShare;
}

/// Has this rank taken a word of everybody? All have lent theirs.
bool take_words(LentPages& pages, int rank, const std::vector<int>& processes) {
  for (std::size_t r = 0; r < processes.size(); ++r) {
    int word = 0;
    if (static_cast<int>(r) == rank) continue;
    if (pages.take(static_cast<int>(r), reinterpret_cast<std::byte*>(&word), sizeof word) != sizeof word) return false;
    if (word != processes[r]) return false;
  }
  return true;
}

bool lend_word(LentPages& pages, int rank, int ranks, const int& word) {
  for (int r = 0; r < ranks; ++r) {
    if (r != rank && pages.lend(r, reinterpret_cast<const std::byte*>(&word), sizeof word) != sizeof word) return false;
  }
  return true;
}

/// An Error of one rank is a no: the others wait for its answer.
template <typename Try>
bool worked(const Try& attempt) {
  try {
    return attempt();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

LentPages::~LentPages() {
  close_all(to_rank_);
  close_all(from_rank_);
}

std::size_t LentPages::lend(int reader, const std::byte* from, std::size_t bytes) {
  iovec pages{const_cast<std::byte*>(from), bytes};
  const int file = to_rank_[static_cast<std::size_t>(reader)];
  const ssize_t lent = at_once([&] { return vmsplice(file, &pages, 1, SPLICE_F_NONBLOCK); });
  if (lent >= 0) return static_cast<std::size_t>(lent);
  throw Error("{} bytes of memory cannot be lent to rank {}: {}; CHASQUI_LEND=0 does without", bytes, reader,
              std::strerror(errno));
}

std::size_t LentPages::take(int lender, std::byte* to, std::size_t bytes) {
  const int file = from_rank_[static_cast<std::size_t>(lender)];
  errno = 0;
  const ssize_t taken = at_once([&] { return read(file, to, bytes); });
  if (taken > 0 || (taken == 0 && errno == EAGAIN)) return static_cast<std::size_t>(taken);
  const char* const why = taken == 0 ? "its process has ended, or was killed" : std::strerror(errno);
  throw Error("{} bytes that rank {} lends cannot be taken: {}", bytes, lender, why);
}

void LentPages::take_back() {
  std::array<char, 4096> nowhere;
  for (const int file : to_rank_) {
    while (file >= 0 && at_once([&] { return read(file, nowhere.data(), nowhere.size()); }) > 0) {
    }
  }
}

std::shared_ptr<LentPages> open_lent_pages(NodeRanks& node, bool wanted) {
  const int rank = node.rank(), size = node.size();
  if (!node.agreed(wanted && !declined("CHASQUI_LEND") && may_hold(size))) return nullptr;
  const int process = getpid();
  std::vector<int> to_rank;
  for (int r = 0; r < size; ++r) to_rank.push_back(r == rank ? -1 : make_pipe());
  const auto pages = std::make_shared<LentPages>(to_rank);
  std::vector<PipeEnd> mine;
  for (const int file : to_rank) mine.push_back({inode_of(file), process, file});
  const std::vector<PipeEnd> all = node.gather(mine.data(), mine.size());
  std::vector<int> processes;
  bool opened = true;
  for (int r = 0; r < size; ++r) {
    const PipeEnd& there = all[static_cast<std::size_t>(r * size + rank)];
    processes.push_back(there.process);
    if (r == rank) continue;
    const int file = there.inode == 0 ? -1 : open_end(there, O_RDONLY);
    pages->hear_from(r, file);
    opened = opened && file >= 0 && to_rank[static_cast<std::size_t>(r)] >= 0;
  }
  if (!node.agreed(opened)) return nullptr;
  const bool lent = node.agreed(worked([&] { return lend_word(*pages, rank, size, process); }));
  const bool taken = node.agreed(lent && worked([&] { return take_words(*pages, rank, processes); }));
  if (!taken) pages->take_back();  // the word is on this rank's stack
  return taken ? pages : nullptr;
}

#else

LentPages::~LentPages() = default;
std::size_t LentPages::lend(int, const std::byte*, std::size_t) { throw Error("no memory can be lent here"); }
std::size_t LentPages::take(int, std::byte*, std::size_t) { throw Error("no memory can be lent here"); }
void LentPages::take_back() {}
std::shared_ptr<LentPages> open_lent_pages(NodeRanks&, bool) { return nullptr; }

#endif

}  // namespace chasqui::run
