// SPDX-License-Identifier: MIT
#include "run/board/process_memory.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "chasqui/base/error.hpp"
#include "run/board/declined.hpp"
#include "run/board/node_ranks.hpp"
#include "run/faults/kept.hpp"

namespace chasqui::run {
namespace {

#if defined(__linux__)

using CopyCall = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

/// Moves all of it, as the kernel may do less at once. False with errno set.
bool move(CopyCall call, pid_t process, void* here, void* there, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (bytes != 0) {
    const iovec local{here, std::min(bytes, kMost)};
    const iovec remote{there, local.iov_len};
    const ssize_t moved = call(process, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    here = static_cast<std::byte*>(here) + moved;
    there = static_cast<std::byte*>(there) + moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

/// A process by its number, which may come to mean another one as soon as it has ended.
struct Process {
  explicit Process(pid_t number_) : number(number_), file(static_cast<int>(syscall(SYS_pidfd_open, number_, 0))) {}
  ~Process() {
    if (file >= 0) close(file);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Sets errno if so.
  bool ended() const {
    pollfd look{file, POLLIN, 0};
    if (poll(&look, 1, 0) <= 0) return false;  // it has not, or the kernel does not say
    errno = ESRCH;
    return true;
  }

  pid_t number;
  int file;  ///< readable when it has ended; negative: the kernel gives none
};

/// One for all communicators: files are few.
std::shared_ptr<const Process> process_of(pid_t number) {
  static std::mutex mutex;
  static auto* const known = new std::map<pid_t, std::weak_ptr<const Process>>;
  const std::lock_guard lock(mutex);
  auto& found = (*known)[number];
  auto process = found.lock();
  if (process == nullptr || process->ended()) found = process = std::make_shared<const Process>(number);
  return process;
}

class Processes final : public ProcessMemory {
 public:
  explicit Processes(std::vector<std::shared_ptr<const Process>> processes) : processes_(std::move(processes)) {}

  void read(int rank, void* to, const void* from, std::size_t bytes) override {
    const Process& other = of(rank);
    if (!move(process_vm_readv, other.number, to, const_cast<void*>(from), bytes) || other.ended()) fail(rank, "read");
  }
  void write(int rank, void* to, const void* from, std::size_t bytes) override {
    const Process& other = of(rank);
    if (other.ended() || !move(process_vm_writev, other.number, const_cast<void*>(from), to, bytes))
      fail(rank, "written");
  }

 private:
  const Process& of(int rank) const { return *processes_[static_cast<std::size_t>(rank)]; }
  [[noreturn]] void fail(int rank, const char* what) const {
    const int why = errno;
    if (why == ESRCH)
      throw Error("rank {}: its process has ended, or was killed, while its memory was {}", name(rank), what);
    throw Error("the memory of rank {} (process {}) cannot be {}: {}; CHASQUI_REACH=0 does without", name(rank),
                of(rank).number, what, std::strerror(why));
  }

  std::vector<std::shared_ptr<const Process>> processes_;
};

/// What a rank tells of itself for the trial.
struct Trial {
  std::uint64_t process;
  std::uint64_t word;   ///< where a word lies
  std::uint64_t value;  ///< what is in it
  std::uint64_t marks;  ///< where every rank may leave a mark
};

/// Has this rank read and marked everybody?
bool try_all(const std::vector<Trial>& trials, int rank) {
  for (const Trial& trial : trials) {
    std::uint64_t found = 0;
    std::uint64_t mark = trial.value + static_cast<std::uint64_t>(rank);
    const auto process = static_cast<pid_t>(trial.process);
    if (!move(process_vm_readv, process, &found, reinterpret_cast<void*>(trial.word), sizeof found)) return false;
    if (found != trial.value) return false;
    void* place = reinterpret_cast<void*>(trial.marks + sizeof mark * static_cast<std::uint64_t>(rank));
    if (!move(process_vm_writev, process, &mark, place, sizeof mark)) return false;
  }
  return true;
}

/// Where every rank may leave a mark: others write there until all have agreed that they are done. Memory that a rank takes
/// back earlier, because that agreement fails, would be written to when it has become something else: it is kept for ever.
class Marks {
 public:
  explicit Marks(int ranks) : marks_(std::make_unique<std::uint64_t[]>(static_cast<std::size_t>(ranks))) {}
  ~Marks() {
    if (!complete_) keep_for_ever(marks_.release());
  }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;

  std::uint64_t place() const { return reinterpret_cast<std::uint64_t>(marks_.get()); }
  void all_are_done() { complete_ = true; }
  bool holds(int rank, std::uint64_t mark) const {
    const volatile std::uint64_t* written = marks_.get() + rank;  // behind the compiler's back
    return *written == mark;
  }

 private:
  std::unique_ptr<std::uint64_t[]> marks_;
  bool complete_ = false;
};

#endif

}  // namespace

std::shared_ptr<ProcessMemory> memory_of(const std::vector<int>& processes) {
#if defined(__linux__)
  std::vector<std::shared_ptr<const Process>> all;
  for (const int number : processes) {
    all.push_back(process_of(number));
    if (all.back()->file < 0) return nullptr;
  }
  return std::make_shared<Processes>(std::move(all));
#else
  static_cast<void>(processes);
  return nullptr;
#endif
}

std::shared_ptr<ProcessMemory> open_process_memory(NodeRanks& node, bool wanted) {
#if defined(__linux__)
  const int rank = node.rank();
  const int size = node.size();
  if (!node.agreed(wanted && !declined("CHASQUI_REACH"))) return nullptr;
  Marks marks(size);
  std::uint64_t word = 0;
  Trial mine{static_cast<std::uint64_t>(getpid()), reinterpret_cast<std::uint64_t>(&word), 0, marks.place()};
  mine.value = word = (mine.process * 0x9E3779B97F4A7C15u) ^ mine.marks ^ (static_cast<std::uint64_t>(rank) << 48);
  const std::vector<Trial> trials = node.gather(&mine);
  std::vector<int> numbers;
  for (const Trial& trial : trials) numbers.push_back(static_cast<int>(trial.process));
  auto memory = memory_of(numbers);
  const bool tried = node.agreed(memory != nullptr && try_all(trials, rank));
  marks.all_are_done();
  if (!tried) return nullptr;
  bool marked = true;
  for (int r = 0; r < size; ++r) marked = marked && marks.holds(r, word + static_cast<std::uint64_t>(r));
  return node.agreed(marked) ? memory : nullptr;
#else
  static_cast<void>(node);
  static_cast<void>(wanted);
  return nullptr;
#endif
}

}  // namespace chasqui::run
