// SPDX-License-Identifier: MIT
// How many cores there are to wait on, and how long to sleep.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "chasqui/base/clock.hpp"
#include "run/wait/backoff.hpp"
#include "run/wait/cores.hpp"
#include "run/wait/first_look.hpp"

namespace chasqui::run {
namespace {

namespace fs = std::filesystem;

class Quota : public testing::Test {
 protected:
  Quota() : root_(fs::path(testing::TempDir()) / ("quota-" + std::to_string(getpid()))) {}
  ~Quota() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int cores(const std::string& groups) const { return quota_cores(groups, root_.string()); }
  fs::path root_;
};

TEST_F(Quota, TheSmallestOfAGroupAndThoseAboveIt) {
  write("cpu.max", "max 100000\n");
  write("a/cpu.max", "250000 100000\n");
  write("a/b/cpu.max", "400000 100000\n");
  write("c/cpu.max", "20000 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 2);
  EXPECT_EQ(cores("0::/c\n"), 1);
  EXPECT_EQ(cores("0::/\n"), 1 << 30);
  EXPECT_EQ(cores("0::/not/there\n"), 1 << 30);
  EXPECT_EQ(cores("nonsense"), 1 << 30);
}

TEST_F(Quota, TheFirstVersionHasAFolderForEachController) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores("5:memory:/a\n4:cpu,cpuacct:/a\n"), 3);
  EXPECT_EQ(cores("4:cpu,cpuacct:/\n"), 1 << 30);
}

TEST(Cores, AQuotaCountsLikeFewerCores) {
  Cores cores;
  EXPECT_EQ(cores.count(), 1);
  cores.mask[0] = 0xff;
  cores.mask[3] = 1;
  EXPECT_EQ(cores.count(), 9);
  cores.quota = 4;
  EXPECT_EQ(cores.count(), 4);
}

TEST(Backoff, ASleepIsASmallPartOfTheWait) {
  constexpr long kSlack = 50'000;
  for (const bool crowded : {false, true}) {
    for (long waited = 1000; waited < 10'000'000'000; waited += waited / 10) {
      const long nap = Backoff::nap(waited, crowded);
      EXPECT_GE(nap, 0);
      EXPECT_LE(nap, 200'000);
      if (nap == 0) continue;
      EXPECT_LE((nap + kSlack) * (crowded ? 16 : 64), waited);
    }
    EXPECT_EQ(Backoff::nap(1'000'000'000, crowded), 200'000) << "who waits long does sleep";
  }
  EXPECT_EQ(Backoff::nap(2'000'000, false), 0);
}

TEST(CoreShortage, IsFoundByACoreThatComesBackLate) {
  constexpr long kMillisecond = 1'000'000;
  CoreShortage shortage;
  shortage.gave_away(1000, 1500);
  shortage.gave_away(1500, 100'000);  // to a rank that waits too
  EXPECT_FALSE(shortage.known());
  long now = 5'000 * kMillisecond;
  for (long length = 100 * kMillisecond; length < 800 * kMillisecond;
       length *= 2) {  // found again, believed for longer
    shortage.gave_away(now - 10 * kMillisecond, now - 7 * kMillisecond);
    EXPECT_FALSE(shortage.known()) << "once is nothing";
    shortage.gave_away(now, now + 3 * kMillisecond);
    now += 3 * kMillisecond;
    EXPECT_TRUE(shortage.known());
    EXPECT_TRUE(shortage.holds(now + length - 1));
    now += length;
    EXPECT_FALSE(shortage.holds(now)) << length;
    EXPECT_FALSE(shortage.known());
    now += 70 * kMillisecond;
  }
  now += 100'000 * kMillisecond;
  shortage.gave_away(now - 4 * kMillisecond, now - kMillisecond);
  shortage.gave_away(now, now + 3 * kMillisecond);
  EXPECT_TRUE(shortage.holds(now + 102 * kMillisecond));
  EXPECT_FALSE(shortage.holds(now + 103 * kMillisecond)) << "after a long time it begins anew";
}

TEST(CoreShortage, IsNotFoundByServicesOfTheSystem) {
  constexpr long kMillisecond = 1'000'000;
  CoreShortage shortage;
  for (long now = kMillisecond; now < 10'000 * kMillisecond; now += 8 * kMillisecond) {
    shortage.gave_away(now, now + kMillisecond / 2);
    ASSERT_FALSE(shortage.known()) << "a sixteenth of the time, after " << now;
  }
  shortage.gave_away(20'000 * kMillisecond, 21'000 * kMillisecond);
  EXPECT_FALSE(shortage.known()) << "once, however long";
}

TEST(CoreShortage, IsSuspectedForASecondAfterALongAbsence) {
  CoreShortage shortage;
  EXPECT_FALSE(shortage.suspected(0));
  shortage.suspect(7);
  EXPECT_TRUE(shortage.suspected(1'000'000'006));
  EXPECT_FALSE(shortage.suspected(1'000'000'007));
  EXPECT_FALSE(shortage.known()) << "nobody knows who had the core";
}

TEST(CoreShortage, NobodySpinsInOne) {
  ASSERT_FALSE(core_shortage.known());
  Backoff patient(false);
  EXPECT_FALSE(patient.pause()) << "it spins first";
  const long now = clock_nanoseconds();
  core_shortage.gave_away(now - 6'000'000, now - 3'000'000);
  core_shortage.gave_away(now - 3'000'000, now);
  Backoff backoff(false, Backoff::looks(false));
  int spins = 0;
  while (!backoff.pause()) ++spins;
  EXPECT_LE(spins, 20);
  core_shortage.holds(now + 1'000'000'000);
  EXPECT_FALSE(core_shortage.known());
}

/// The cores that this thread may run on.
Cores allowed_here() {
  Cores cores;
  EXPECT_EQ(sched_getaffinity(0, sizeof cores.mask, reinterpret_cast<cpu_set_t*>(cores.mask.data())), 0);
  return cores;
}

Cores only(int core) {
  Cores cores;
  cores.mask[static_cast<std::size_t>(core) / 64] = std::uint64_t{1} << core % 64;
  return cores;
}

TEST(Cores, AThreadMovesToOneThatIsFreeAndMayRunAnywhereAfterwards) {
  const Cores before = allowed_here();
  if (before.count() < 2) GTEST_SKIP() << "it needs two cores";
  int moved = 0;  // the kernel may take it back at any moment
  for (int i = 0; i < 100; ++i) {
    const int here = sched_getcpu();
    ASSERT_TRUE(move_off(only(here), i));
    moved += sched_getcpu() != here ? 1 : 0;
    ASSERT_EQ(allowed_here().mask, before.mask);
  }
  EXPECT_GT(moved, 50);
  EXPECT_FALSE(move_off(before, 0)) << "none is free";
  EXPECT_EQ(allowed_here().mask, before.mask);
}

TEST(CoreOffers, EndWhereSomebodyComputes) {
  constexpr long kMillisecond = 1'000'000;
  CoreOffers offers;
  long now = 1'000 * kMillisecond;
  offers.taken(now, now + kMillisecond / 10);
  EXPECT_TRUE(offers.wise(now + kMillisecond / 10)) << "a rank that waits too gives it back soon";
  for (long silence = 20 * kMillisecond; silence <= 4'000 * kMillisecond; silence *= 2) {
    const long length = std::min(silence, 2'000 * kMillisecond);
    offers.taken(now, now + 3 * kMillisecond);
    EXPECT_FALSE(offers.wise(now + 3 * kMillisecond + length - 1));
    now += 3 * kMillisecond + length;
    EXPECT_TRUE(offers.wise(now)) << length;
  }
  now += 5'000 * kMillisecond;
  offers.taken(now, now + 3 * kMillisecond);
  EXPECT_TRUE(offers.wise(now + 23 * kMillisecond)) << "after a long time it begins anew";
}

TEST(CoreOffers, LetAnotherThreadHaveTheCoreBeforeTheSpinningEnds) {
  constexpr long kFarAway = 1'000'000'000'000'000'000;
  core_shortage.holds(kFarAway);
  const Cores before = allowed_here(), one = only(sched_getcpu());
  const auto stay = [&](const Cores& cores) {
    return sched_setaffinity(0, sizeof cores.mask, reinterpret_cast<const cpu_set_t*>(cores.mask.data())) == 0;
  };
  ASSERT_TRUE(stay(one));
  std::atomic<bool> ends{false};
  std::atomic<long> turns{0};
  std::thread other([&] {  // of the same cores
    for (; !ends; ++turns) sched_yield();
  });
  int series = 0, taken = 0;
  // Programs that compute beside this test end the offers, and a series in which they did says nothing.
  const auto disturbed = [] { return core_shortage.known() || !core_offers.wise(clock_nanoseconds()); };
  for (int i = 0; i < 400 && series < 20; ++i) {
    if (disturbed()) {
      core_shortage.holds(kFarAway);
      usleep(1000);
      continue;
    }
    const long turns_before = turns;
    Backoff backoff(false);
    for (int k = 0; k < 1'000; ++k) backoff.pause();
    const bool took = turns != turns_before;
    if (!took && disturbed()) continue;
    ++series;
    taken += took ? 1 : 0;
  }
  ends = true;
  other.join();
  stay(before);
  if (series < 4) GTEST_SKIP() << "others want this core";
  EXPECT_GE(2 * taken, series) << "of " << series;
}

TEST(FirstLook, WaitsNoLongerThanItMay) {
  FirstLook look(3, 30);
  EXPECT_EQ(look.pauses(), 0);
  for (int expected : {1, 2, 3, 3, 3}) {
    look.learn(1);
    EXPECT_EQ(look.pauses(), expected);
  }
  for (int i = 0; i < 10'000; ++i) look.learn(0);
  EXPECT_EQ(look.pauses(), 0) << "nobody is waited for who was there before";
  FirstLook crowded(0, 30);
  crowded.learn(1);
  EXPECT_EQ(crowded.pauses(), 0);
}

// Ranks that are far apart: half of them come before the root, long before, the others after it.
TEST(FirstLook, CostsNothingWhereRanksAreApart) {
  FirstLook look(4, 40);
  for (int i = 0; i < 4; ++i) look.learn(1);
  ASSERT_EQ(look.pauses(), 4);
  EXPECT_FALSE(look.apart());
  for (int call = 0; call < 200; ++call) look.learn(call % 2 == 0 ? 0 : 500);
  EXPECT_EQ(look.pauses(), 0) << "whoever comes later finds the line there, and has nothing to wait for";
  EXPECT_TRUE(look.apart());
  for (int call = 0; call < 10'000; ++call) {
    look.learn(call % 50 == 0 ? 3 : call % 2 == 0 ? 0 : 500);  // now and then by little
    ASSERT_LE(look.pauses(), 1);
  }
  for (int call = 0; call < 100; ++call) look.learn(0);
  EXPECT_FALSE(look.apart()) << "they come together again";
}

// A line that comes after two pauses: who looks earlier makes all others late.
TEST(FirstLook, AmongManyReadersOneIsEarlyOnlyNowAndThen) {
  std::vector<FirstLook> readers;
  for (int r = 0; r < 15; ++r) {  // each has learned something else
    FirstLook reader(4, 40);
    for (int i = 0; i < 3; ++i) reader.learn(1);
    for (int i = 0; i < 9 * r; ++i) reader.learn(0);
    readers.push_back(reader);
  }
  int disturbed = 0;
  constexpr int kRounds = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    bool early = false;
    for (FirstLook& reader : readers) {
      const bool found = reader.pauses() >= 2;
      reader.learn(found ? 0 : 1);
      early = early || !found;
    }
    disturbed += early ? 1 : 0;
  }
  EXPECT_LT(disturbed, kRounds / 5);
  EXPECT_GT(disturbed, 0) << "somebody must try to look earlier";
}

}  // namespace
}  // namespace chasqui::run
