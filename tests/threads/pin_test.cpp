// SPDX-License-Identifier: MIT
#include "threads/pin.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <mutex>
#include <set>

#include "chasqui/threads/team.hpp"
#include "run/wait/cores.hpp"

namespace chasqui::threads {
namespace {

using Places = std::vector<int>;

TEST(Pin, TheFirstTeamTakesTheFirstCoresTheNextTheOthers) {
  EXPECT_EQ(least_used({0, 0, 0, 0}, 0, 4, 2), Places({0, 1}));
  EXPECT_EQ(least_used({1, 1, 0, 0}, 0, 4, 2), Places({2, 3}));
  EXPECT_EQ(least_used({1, 0, 1, 0}, 0, 4, 3), Places({0, 1, 3}));
  EXPECT_EQ(least_used({1, 1, 1, 1}, 0, 4, 2), Places({0, 1}));
  EXPECT_EQ(least_used({0, 0, 0, 0}, 2, 4, 2), Places({2, 3}));
  EXPECT_EQ(least_used({0, 0, 0, 0}, 2, 4, 3), Places());
}

TEST(Pin, ProcessesThatMayUseAllCoresTakeShares) {
  using Share = std::pair<int, int>;
  EXPECT_EQ(own_share(16, 16, {0, 1}), Share(0, 16)) << "alone";
  EXPECT_EQ(own_share(16, 16, {0, 2}), Share(0, 8));
  EXPECT_EQ(own_share(16, 16, {1, 2}), Share(8, 16));
  EXPECT_EQ(own_share(8, 16, {1, 2}), Share(0, 8)) << "bound to a half each";
  EXPECT_EQ(own_share(8, 16, {1, 4}), Share(2, 4)) << "two of them on each half";
  EXPECT_EQ(own_share(1, 16, {3, 4}), Share(0, 1)) << "bound to a core each";
  EXPECT_EQ(own_share(2, 2, {4, 8}), Share(0, 0)) << "more processes than cores";
}

TEST(Pin, LaunchersSayWhoIsThere) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALRANKID",
                           "MPI_LOCALNRANKS", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"}) {
    unsetenv(name);
  }
  EXPECT_EQ(neighbours_from_environment().size, 1);
  setenv("MPI_LOCALRANKID", "2", 1);
  setenv("MPI_LOCALNRANKS", "3", 1);
  EXPECT_EQ(neighbours_from_environment().rank, 2);
  EXPECT_EQ(neighbours_from_environment().size, 3);
  setenv("MPI_LOCALNRANKS", "nonsense", 1);
  EXPECT_EQ(neighbours_from_environment().size, 1);
  unsetenv("MPI_LOCALRANKID");
  unsetenv("MPI_LOCALNRANKS");
}

/// The cores that the threads of a team are bound to.
std::set<int> cores_of(Team& team) {
  std::set<int> cores;
  std::mutex mutex;
  team.run([&](run::Comm&) {
    cpu_set_t mine;
    sched_getaffinity(0, sizeof mine, &mine);
    const std::lock_guard lock(mutex);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &mine)) cores.insert(core);
    }
  });
  return cores;
}

TEST(Pin, TwoTeamsSitOnDifferentCores) {
  Team first(1);
  Team second(1);
  if (first.pinned() == 0 || CoreClaim(2).cores().empty()) GTEST_SKIP() << "not two cores";
  const auto there = cores_of(first);
  for (const int core : cores_of(second)) EXPECT_FALSE(there.contains(core)) << core;
}

TEST(Pin, CoresAreFreeAgainWhenATeamHasGone) {
  std::set<int> before;
  {
    Team team(1);
    before = cores_of(team);
  }
  Team team(1);
  EXPECT_EQ(cores_of(team), before);
}

}  // namespace
}  // namespace chasqui::threads
