// SPDX-License-Identifier: MIT
// Teams that cannot be made, or are asked for two things at once: an Error, never a wait for ever.
#include "chasqui/threads/team.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "chasqui/base/error.hpp"
#include "patience.hpp"
#include "run/comm/fabric.hpp"
#include "run/wait/cores.hpp"
#include "sanitized.hpp"

namespace chasqui::threads {
namespace {

void make_too_many() {
  alarm(20 * kPatience);
  const rlimit memory{rlim_t{600} << 20, rlim_t{600} << 20};
  setrlimit(RLIMIT_AS, &memory);
  try {
    const Team team(400, {.pin = false, .profile = nullptr, .patience = {}});
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(3);
  }
  _exit(0);
}

TEST(Team, ThreadsThatTheSystemRefuses) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer needs the memory that this test forbids";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_too_many(), testing::ExitedWithCode(3), "a team of 400 threads: the system began .* ask for fewer");
}

TEST(Team, ARunInsideARunIsAnError) {
  Team team(2);
  std::atomic<int> errors{0};
  team.run([&](run::Comm& comm) {
    try {
      team.run([](run::Comm& inner) { inner.barrier(); });
    } catch (const Error&) {
      ++errors;
    }
    comm.barrier();
  });
  EXPECT_EQ(errors, 2);
  team.run([](run::Comm& comm) { comm.barrier(); });
}

// The threads are not in the child, which ends like any process: also by the destructors of what it was given.
TEST(Team, AForkedChildDoesNotWaitForItsThreads) {
  auto team = std::make_unique<Team>(2);
  team->run([](run::Comm& comm) { comm.barrier(); });
  const pid_t child = fork();
  if (child == 0) {
    alarm(20 * kPatience);
    team = nullptr;
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  team->run([](run::Comm& comm) { comm.barrier(); });
}

TEST(Team, WhoEndsEarlyLeavesNobodyWaiting) {
  const auto heard = [](const std::function<void(run::Comm&)>& body) {
    Team team(3);
    std::string text;
    try {
      team.run(body);
    } catch (const Error& error) {
      text = error.what();
    }
    std::atomic<int> sum{0};
    team.run([&](run::Comm& comm) { sum += comm.allreduce(1); });  // as if nothing had been
    EXPECT_EQ(sum, 9);
    return text;
  };
  EXPECT_NE(
      heard([](run::Comm& comm) {
        comm.barrier();
        if (comm.rank() != 1) comm.barrier();
      }).find("rank 1 has ended, or given its communicator back, after 1 collective, and will not come to number 2"),
      std::string::npos);
  EXPECT_NE(heard([](run::Comm& comm) {
              const auto part = comm.split(0, 0);
              if (comm.rank() != 2) part->barrier();
            }).find("rank 2 has ended"),
            std::string::npos);
  EXPECT_NE(heard([](run::Comm& comm) {
              if (comm.rank() != 0) comm.ibarrier().wait();
            }).find("after 0 collectives"),
            std::string::npos);
}

TEST(Team, WhoEndsFirstHarmsNobody) {
  Team team(3);
  for (int i = 0; i < 50; ++i) {
    team.run([&](run::Comm& comm) {
      if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::microseconds(300 * (i % 3)));
      int value = comm.rank();
      comm.broadcast(value, 2);  // the root leaves long before rank 0 comes
      if (value != 2) throw Error("{}", value);
    });
  }
}

TEST(Team, TwoRunsAtOnceAreAnErrorForOne) {
  Team team(2);
  std::atomic<bool> inside{false}, done{false};
  std::thread first([&] {
    team.run([&](run::Comm&) {
      inside = true;
      while (!done) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  EXPECT_THROW(team.run([](run::Comm&) {}), Error);
  done = true;
  first.join();
  team.run([](run::Comm& comm) { comm.barrier(); });
}

/// This process on one core, until the end of the scope.
struct OneCore {
  OneCore() {
    sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof before, &before); }
  cpu_set_t before;
};

TEST(Team, CoresAreThoseOfTheProcessNotOfTheMachine) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own thread has all cores";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  const OneCore one;
  EXPECT_EQ(run::available_cores(), 1);
  for (const bool with_board : {true, false}) {
    EXPECT_TRUE(run::crowded(*make_comms(2, nullptr, with_board)[0])) << with_board;
    EXPECT_FALSE(run::crowded(*make_comms(1, nullptr, with_board)[0])) << with_board;
  }
}

TEST(Team, APinnedThreadDoesNotHideTheOtherCores) {
  if (run::available_cores() < 2) GTEST_SKIP() << "one core";
  Team team(2);
  team.run([](run::Comm& comm) {
    EXPECT_FALSE(run::crowded(comm));
    const auto part = comm.split(0, comm.rank());
    EXPECT_FALSE(run::crowded(*part));
  });
}

#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
TEST(Team, MemoryGrowsWithTheRanksNotWithTheirPairs) {
  const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const auto before = used();
  const auto comms = make_comms(400, nullptr);
  EXPECT_LT(used() - before, std::size_t{32} << 20) << "160 000 pairs of 384 bytes alone are 61 MB";
}
#endif
#endif

}  // namespace
}  // namespace chasqui::threads
