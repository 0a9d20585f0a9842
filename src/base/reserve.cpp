// SPDX-License-Identifier: MIT
#include "base/reserve.hpp"

#include <fcntl.h>
#include <pthread.h>

#include <cerrno>
#include <csignal>

namespace chasqui {

/// At a signal older kernels give up, and give back what they have reserved so far: beside a timer a long reservation would never come to its end. A stop
/// cannot be held back. Where files may not be so long (ulimit -f) the kernel sends a signal, too, which ends the process: the error says the same.
int reserve(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  sigset_t all, before, pending;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  sigpending(&pending);
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
  if (error == EFBIG && sigismember(&pending, SIGXFSZ) == 0) {
    sigset_t too_long;
    sigemptyset(&too_long);
    sigaddset(&too_long, SIGXFSZ);
    const timespec now{};
    sigtimedwait(&too_long, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace chasqui
