// SPDX-License-Identifier: MIT
// The stack that the component prepares communicators on.
#include "preload/component/fiber.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace chasqui::preload {
namespace {

struct Counts {
  int& ended;
  ~Counts() { ++ended; }
};

TEST(Fiber, GoesOnWhereItSuspended) {
  std::vector<int> seen;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    for (int i = 0; i < 3; ++i) {
      seen.push_back(i);
      self->suspend();
    }
  });
  self = &fiber;
  EXPECT_TRUE(seen.empty());
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(fiber.ended());
    fiber.resume();
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(i < 3 ? i + 1 : 3));
  }
  EXPECT_TRUE(fiber.ended());
}

TEST(Fiber, ExceptionsBelongToTheirStack) {
  int steps = 0;
  Fiber* self = nullptr;
  Fiber fiber([&] {
    try {
      throw std::runtime_error("inside");
    } catch (const std::exception&) {
      self->suspend();
      try {
        throw;
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "inside");
        ++steps;
      }
    }
  });
  self = &fiber;
  for (int i = 0; i < 2; ++i) {
    try {
      throw std::logic_error("outside");
    } catch (const std::exception&) {
      fiber.resume();
      try {
        throw;
      } catch (const std::logic_error&) {
        ++steps;
      }
    }
  }
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(Fiber, WhatHasNotEndedIsUnwound) {
  int ended = 0;
  for (int turns = 0; turns < 3; ++turns) {
    Fiber* self = nullptr;
    Fiber fiber([&] {
      const Counts counts{ended};
      try {
        self->suspend();
      } catch (const std::exception&) {
        ADD_FAILURE() << "abandoning is no failure";
      }
    });
    self = &fiber;
    for (int i = 0; i < turns; ++i) fiber.resume();
    if (turns == 1) fiber.abandon();
    EXPECT_EQ(fiber.ended(), turns > 0);
  }
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace chasqui::preload
