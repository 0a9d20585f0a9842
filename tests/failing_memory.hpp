// SPDX-License-Identifier: MIT
// What a program asks the system for memory with, for one source file of a test: a call fails where reserving_fails() or mapping_fails()
// says so, which that file defines. The linker brings the calls here (--wrap=posix_fallocate,--wrap=mmap).
#pragma once

#include <sys/mman.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>

static bool reserving_fails();
static bool mapping_fails();

extern "C" {
int __real_posix_fallocate(int file, off_t from, off_t bytes);
void* __real_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t from);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes);
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t from);

int __wrap_posix_fallocate(int file, off_t from, off_t bytes) {
  return reserving_fails() ? ENOSPC : __real_posix_fallocate(file, from, bytes);
}
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t from) {
  if (!mapping_fails()) return __real_mmap(at, bytes, protection, flags, file, from);
  errno = ENOMEM;
  return MAP_FAILED;
}
}
