// SPDX-License-Identifier: MIT
// The suite on the engines inside one process.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "sanitized.hpp"
#include "suite.hpp"

namespace chasqui::bsp {
namespace {

struct Setting {
  const char* name;
  Options options;
  int most;  ///< processors
};

const Setting kSettings[] = {
    {"threads", {.engine = Engine::threads}, 8},
    {"spinning", {.engine = Engine::threads, .cores = 100}, 16},
    {"virtual", {.engine = Engine::virtual_processors, .carriers = 3}, 100},
    {"pinned", {.engine = Engine::virtual_processors, .carriers = 2, .migrate = false}, 100},
    {"deterministic", {.deterministic = true}, 100},
    {"spill", {.spill = "."}, 8},
};

class Engines : public testing::TestWithParam<Setting> {};

TEST_P(Engines, Programs) {
  for (const suite::Case& one : suite::cases()) {
    for (const int p : {1, 2, 3, 4, 7, 8, 16, 33, 100}) {
      if (p > GetParam().most) continue;
      SCOPED_TRACE(fmt::format("{} on {} processors", one.name, p));
      ASSERT_NO_THROW(
          try { run(p, one.program, GetParam().options); } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
            throw;
          });
    }
  }
}

TEST_P(Engines, Misuse) {
  for (const suite::Misuse& one : suite::misuses()) {
    for (const int p : {1, 2, 3, 8}) {
      if (p < one.at_least) continue;
      SCOPED_TRACE(fmt::format("{} on {} processors", one.name, p));
      try {
        run(p, one.program, GetParam().options);
        ADD_FAILURE() << "no fault";
      } catch (const MachineError& error) {
        EXPECT_EQ(to_string(error.fault()), to_string(one.fault)) << error.what();
        EXPECT_NE(std::string(error.what()).find(one.says), std::string::npos) << error.what();
      }
    }
  }
}

TEST_P(Engines, AnExceptionOfTheProgramStopsEverybody) {
  for (const int p : {1, 2, 8}) {
    EXPECT_THROW(run(
                     p,
                     [](World& w) {
                       w.sync();
                       if (w.rank() == w.size() - 1) throw std::out_of_range("mine");
                       for (;;) w.sync();
                     },
                     GetParam().options),
                 std::out_of_range);
  }
}

/// Carriers seat processors many at a time, help each other, and meanwhile parts of the machine meet on their own.
/// As programs of threads have them on their stacks.
void use_room(World& w) {
  volatile std::byte room[512 * 1024];
  for (std::size_t at = 0; at < sizeof room; at += 4096) room[at] = std::byte{1};
  w.sync();
  if (room[0] != std::byte{1}) throw Error("the room has changed");
}

TEST(VirtualProcessors, HaveRoomForArraysOnTheirStacks) {
  EXPECT_NO_THROW(run(100, use_room, {.engine = Engine::virtual_processors}));
}

TEST(VirtualProcessors, TakeLessWhereAddressesAreFew) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the memory that this test forbids";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit few{rlim_t{2} << 30, rlim_t{2} << 30};
    setrlimit(RLIMIT_AS, &few);
    try {
      run(4000, [](World& w) { w.sync(); }, {.engine = Engine::virtual_processors});
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(VirtualProcessors, MoreThanCarriersSeatAtATimeAndUnevenly) {
  constexpr int kP = 1000, kRounds = 20;
  run(kP,
      [](World& w) {
        int value = w.rank();
        for (int round = 0; round < kRounds; ++round) {
          if (w.rank() % 97 == round % 97) {  // some are late
            volatile int sink = 0;
            for (int i = 0; i < 20'000; ++i) sink = sink + i;
          }
          w.send((w.rank() + 1) % kP, value);
          w.sync();
          value = w.received<int>().begin()->value();
          World part = w.split(7);
          part.send(part.size() - 1 - part.rank(), part.rank());
          part.sync();
          if (part.received<int>().begin()->value() != part.size() - 1 - part.rank()) throw std::runtime_error("part");
        }
        if (value != (w.rank() - kRounds + kP) % kP) throw std::runtime_error("ring");
      },
      {.engine = Engine::virtual_processors, .carriers = 3});
}

INSTANTIATE_TEST_SUITE_P(All, Engines, testing::ValuesIn(kSettings),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace chasqui::bsp
