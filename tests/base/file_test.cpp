// SPDX-License-Identifier: MIT
// Reading what has no end, and what is no file.
#include "chasqui/base/file.hpp"

#include <gtest/gtest.h>

#include "chasqui/base/error.hpp"

namespace chasqui {
namespace {

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
