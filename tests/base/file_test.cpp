// SPDX-License-Identifier: MIT
// Reading what has no end, and what is no file; who may read what is being written.
#include "chasqui/base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "chasqui/base/error.hpp"

namespace {

struct Opened {
  std::string path;
  int flags = 0;
  mode_t mode = 0;
} opened;  ///< the last file that was created

}  // namespace

// The linker brings open() here (--wrap).
extern "C" {
int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, mode_t mode);
int __wrap_open(const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) != 0) opened = {path, flags, mode};
  return __real_open(path, flags, mode);
}
}

namespace chasqui {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(File, OnlyItsOwnerReadsADraft) {
  const std::string path = testing::TempDir() + "chasqui-file-test";
  std::filesystem::remove(path);
  const mode_t before = ::umask(027);
  replace_file(path, "new");
  EXPECT_EQ(opened.path.find(path + "."), 0u) << opened.path;
  EXPECT_TRUE((opened.flags & O_EXCL) != 0 && (opened.flags & O_NOFOLLOW) != 0);
  EXPECT_EQ(opened.mode, 0600u);
  EXPECT_FALSE(std::filesystem::exists(opened.path));
  EXPECT_EQ(mode_of(path), 0640u) << "as any new file";
  EXPECT_EQ(::chmod(path.c_str(), 0604), 0);
  replace_file(path, "newer");
  EXPECT_EQ(opened.mode, 0600u);
  EXPECT_EQ(mode_of(path), 0604u) << "as the one that was there";
  EXPECT_EQ(read_file(path, "it was written"), "newer");
  EXPECT_EQ(::umask(before), 027u);
  std::filesystem::remove(path);
}

std::string complaint(const std::string& path) {
  try {
    read_file(path, "name a file");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(File, WhatHasNoEndIsRefused) {
  EXPECT_EQ(complaint("/dev/zero"), "/dev/zero: longer than 1 MiB, which no file of ours is: name a file");
  EXPECT_EQ(complaint("/dev/null"), "");
  EXPECT_EQ(complaint("/"), "/: cannot be read (Is a directory): name a file");
}

}  // namespace
}  // namespace chasqui
