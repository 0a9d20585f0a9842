// SPDX-License-Identifier: MIT
#include "group/watch.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "chasqui/base/error.hpp"

namespace chasqui::group {
namespace {

struct flock lock_of(int rank) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

/// Numbers of processes are not enough: each container may have a process 1. So each has a nonce, and one that is forked (by the C
/// library) its own.
class OwnNonce {
 public:
  static const Nonce& here() { return only().nonce_; }

 private:
  OwnNonce() {
    pthread_atfork(nullptr, nullptr, [] { only().nonce_ = fresh_nonce(); });
  }
  static OwnNonce& only() {
    static OwnNonce* const one = new OwnNonce;
    return *one;
  }

  Nonce nonce_ = fresh_nonce();
};

Process this_process() { return {getpid(), OwnNonce::here()}; }

}  // namespace

/// All descriptors of one file in this process, which may be several ranks of a group (threads that joined each by itself): the kernel takes away
/// all its locks as soon as one of them is closed.
struct Watch::Files {
  explicit Files(int one) : any(one) {}

  const int any;
  std::vector<Socket> all{};  ///< guarded by the mutex of with()

  static std::shared_ptr<Files> with(Socket file) {
    static std::mutex mutex;
    static auto* const known = new std::map<std::pair<dev_t, ino_t>, std::weak_ptr<Files>>;
    const std::lock_guard lock(mutex);
    struct stat found {};
    if (fstat(file.file(), &found) != 0) return nullptr;
    std::erase_if(*known, [](const auto& each) { return each.second.expired(); });
    auto& files = (*known)[{found.st_dev, found.st_ino}];
    auto same = files.lock();
    if (same == nullptr) files = same = std::make_shared<Files>(file.file());
    same->all.push_back(std::move(file));
    return same;
  }
};

Watch::Watch(Meeting& meeting, int host)
    : host_(host),
      files_(
          Files::with(Socket(meeting.open_memory(meeting.rank() == 0 ? static_cast<std::size_t>(meeting.size()) : 0)))),
      dead_(static_cast<std::size_t>(meeting.size())) {
  struct flock own = lock_of(meeting.rank());
  if (!meeting.agreed(files_ != nullptr && fcntl(files_->any, F_SETLK, &own) == 0))
    throw Error("no memory or no lock for a group of {} processes", meeting.size());
  const Process me = this_process();
  processes_ = meeting.gather(&me);
}

bool Watch::alive(int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (processes_[at] == this_process()) return true;  // the kernel does not tell a process of its own locks
  const std::lock_guard guard(mutex_);
  struct flock lock = lock_of(rank);
  if (dead_[at] == 0 && fcntl(files_->any, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK) dead_[at] = 1;
  return dead_[at] == 0;
}

}  // namespace chasqui::group
