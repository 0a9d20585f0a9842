// SPDX-License-Identifier: MIT
// Memory that is reserved beside a timer. Linux gives up at any signal in files in memory, newer ones only where it ends the process: the linker
// brings the call here (--wrap), where there is an old one.
#include "base/reserve.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace {

bool stopped = false;  ///< which no mask holds back

bool blocked(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

}  // namespace

extern "C" {
int __real_posix_fallocate(int file, off_t from, off_t bytes);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes) {
  if (!blocked(SIGALRM) || !std::exchange(stopped, true)) return EINTR;
  return __real_posix_fallocate(file, from, bytes);
}
}

namespace chasqui {
namespace {

TEST(Reserve, ComesToItsEndBesideATimer) {
  const int file = memfd_create("reserve", 0);
  ASSERT_GE(file, 0);
  EXPECT_EQ(reserve(file, 4096, 1 << 20), 0);
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(blocked(SIGALRM));
  struct stat found {};
  ASSERT_EQ(fstat(file, &found), 0);
  EXPECT_EQ(found.st_size, 4096 + (1 << 20));
  EXPECT_EQ(found.st_blocks * 512, 1 << 20);  // all of it, not the length alone
  close(file);
}

TEST(Reserve, WhereFilesMayNotBeSoLong) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit least{4096, before.rlim_max};
  const int file = memfd_create("reserve", 0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &least), 0);
  const int error = reserve(file, 0, 1 << 20);  // lives on
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error, EFBIG);
  close(file);
}

TEST(Reserve, SaysWhatIsWrong) {
  EXPECT_EQ(reserve(-1, 0, 4096), EBADF);
  EXPECT_FALSE(blocked(SIGALRM));
}

}  // namespace
}  // namespace chasqui
