// SPDX-License-Identifier: MIT
#include "base/reserve.hpp"

#include <fcntl.h>
#include <pthread.h>

#include <cerrno>
#include <csignal>

namespace chasqui {

/// At a signal older kernels give up, and give back what they have reserved so far: beside a timer a long reservation would never come to its end. A stop
/// cannot be held back.
int reserve(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int error = EINTR;
  while (error == EINTR) error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace chasqui
