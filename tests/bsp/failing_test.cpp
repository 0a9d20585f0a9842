// SPDX-License-Identifier: MIT
// What a machine cannot get: each open, posix_fallocate, mmap and allocation fails in turn while a program runs, once or with all that follow.
// Its result is right, or run() throws; nobody waits for ever. The linker brings those calls here (--wrap).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <numeric>

#include "bsp/virtual/spilled_memory.hpp"
#include "chasqui/bsp/fault.hpp"
#include "chasqui/bsp/run.hpp"
#include "chasqui/bsp/variable.hpp"
#include "failing_memory.hpp"
#include "failing_new.hpp"
#include "patience.hpp"

namespace {

enum class Class { open, reserve, map, allocate };
std::atomic<Class> failing{Class::open};
std::atomic<int> countdown{0};      ///< the call of that class that fails, by whichever thread; 0: none does
std::atomic<bool> for_good{false};  ///< all that follow fail, too
std::atomic<bool> failed{false};

bool fails(Class which) {
  if (countdown.load(std::memory_order_relaxed) <= 0 || failing != which) return false;
  const int left = countdown.fetch_sub(1);
  if (left == 1 && for_good) countdown = 1;
  if (left != 1) return false;
  failed = true;
  return true;
}

}  // namespace

static bool allocation_fails() { return fails(Class::allocate); }
static bool reserving_fails() { return fails(Class::reserve); }
static bool mapping_fails() { return fails(Class::map); }

extern "C" {
int __real_open(const char* name, int flags, ...);
int __real_mkstemp(char* name);
int __wrap_open(const char* name, int flags, mode_t mode);
int __wrap_mkstemp(char* name);

int __wrap_open(const char* name, int flags, mode_t mode) {
  if (!fails(Class::open)) return __real_open(name, flags, mode);
  errno = EMFILE;
  return -1;
}
int __wrap_mkstemp(char* name) {
  if (!fails(Class::open)) return __real_mkstemp(name);
  errno = EMFILE;
  return -1;
}
}

namespace chasqui::bsp {
namespace {

constexpr int kProcessors = 3;
constexpr std::size_t kLength = 3000;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void expect(bool holds, const char* what) {
  if (!holds) throw Wrong(what);
}

void program(World& w) {
  Array<int> data(w, kLength, w.rank());
  const int next = (w.rank() + 1) % w.size(), before = (w.rank() + w.size() - 1) % w.size();
  w.send(next, std::vector<int>(kLength, w.rank()));
  data.put(next, 7, -1);
  auto seen = data.get(next, 0, 5);
  w.sync();
  expect(data[7] == -1, "a put is missing");
  expect(seen.values()[4] == next, "a get is wrong");
  int messages = 0;
  for (const auto& each : w.received<int>()) {
    expect(each.from == before && each.values.size() == kLength && each.values.back() == before, "a message is wrong");
    ++messages;
  }
  expect(messages == 1, "messages are missing");
  {
    World part = w.split(2);
    expect(part.allreduce(1, std::plus<>{}) == part.size(), "a sum of a part is wrong");
    part.sync();
  }
  w.set_block_bytes(1);
  for (int to = 0; to < w.size(); ++to) w.send(to, 1), w.send(to, 2);
  w.sync();
  expect(w.received<int>().values() == std::vector{1, 2, 1, 2, 1, 2}, "short messages are wrong");
  Array<int> more(w, kLength, 1);
  if (w.rank() < 2) w.sync({0, 1});
  w.sync();
  data.free();
  expect(std::accumulate(more.begin(), more.end(), 0) == static_cast<int>(kLength), "an array is wrong");
  expect(w.allreduce(w.rank(), std::plus<>{}) == kProcessors * (kProcessors - 1) / 2, "a sum is wrong");
}

/// False: there is no such call.
bool survived(Class which, int n, const Options& options) {
  failing = which;
  failed = false;
  countdown = n;
  try {
    run(kProcessors, program, options);
  } catch (const Wrong& wrong) {
    countdown = 0;
    ADD_FAILURE() << wrong.what() << ": number " << n << " of class " << static_cast<int>(which);
  } catch (const std::exception& error) {
    countdown = 0;
    EXPECT_TRUE(failed) << error.what();
  }
  countdown = 0;
  return failed;
}

enum class Machine { threads, spilling, carriers };

class Failing : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    alarm(60 * kPatience);  // a hang is a failure
    if (GetParam() == Machine::threads) return;
    options_.engine = Engine::virtual_processors;
    if (GetParam() == Machine::spilling) options_.spill = ".";
    else options_.carriers = kProcessors;
  }
  void TearDown() override { alarm(0); }

  Options options_{.engine = Engine::threads};
};
INSTANTIATE_TEST_SUITE_P(Machines, Failing, testing::Values(Machine::threads, Machine::spilling, Machine::carriers));

TEST_P(Failing, EachPieceOfMemoryOnce) {
  int failures = 0;
  for (const Class which : {Class::open, Class::reserve, Class::map}) {
    for (int n = 1; survived(which, n, options_); ++n) ++failures;
  }
  EXPECT_GE(failures, GetParam() == Machine::spilling ? 6 : 0) << "hardly anything failed";
}

TEST_P(Failing, EachAllocationOnce) {
  for (const bool all_that_follow : {false, true}) {
    for_good = all_that_follow;
    int n = 1;
    while (survived(Class::allocate, n, options_)) ++n;
    EXPECT_GT(n, 20) << "hardly anything was allocated";
    std::printf("%d allocations failed in turn%s\n", n - 1, all_that_follow ? ", with all that follow" : "");
  }
  for_good = false;
}

/// Where a piece of memory cannot be mapped, nobody may go to where it and those behind it were before: others may be there now.
TEST(Spilled, WhatCannotBeMappedIsNowhere) {
  for (int n = 1; n <= 3; ++n) {
    detail::SpilledMemory memory(".");
    detail::SpilledSegments all;
    detail::Segment pieces[3];
    for (detail::Segment& piece : pieces) {
      piece.bytes = 8192;
      ASSERT_TRUE(memory.allocate(piece, all));
      piece.data[8191] = std::byte{static_cast<unsigned char>(n)};
    }
    memory.put_out(*all);
    failing = Class::map;
    countdown = n;
    EXPECT_THROW(memory.bring_in(*all), MachineError);
    countdown = 0;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(pieces[i].data != nullptr, i + 1 < n) << i << " of " << n;
    for (int i = 0; i + 1 < n; ++i) EXPECT_EQ(pieces[i].data[8191], std::byte{static_cast<unsigned char>(n)});
    for (detail::Segment& piece : pieces) memory.release(piece, all);
  }
}

}  // namespace
}  // namespace chasqui::bsp
