// SPDX-License-Identifier: MIT
// Clocks that were set wrong on purpose.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <functional>

#include "chasqui/threads/team.hpp"
#include "measure/common_start.hpp"

namespace chasqui::measure {
namespace {

constexpr double kSecond = 1e9;
constexpr double kShort = 1e6, kLong = 20e6;  ///< nanoseconds: a slot, and a nap

/// Rank r's clock is off by an amount of its own, up to some thousand seconds in both directions.
double wrong_by(int rank) { return (rank % 2 == 0 ? 1 : -1) * 1000 * kSecond * rank; }

std::function<double()> wrong_clock(int rank) {
  return [rank] { return clock_now() + wrong_by(rank); };
}

TEST(Clocks, OffsetsLieWithinTheStatedUncertainty) {
  for (const int ranks : {1, 2, 5, 11}) {  // 11: more than talk to rank 0 at a time
    threads::Team team(ranks);
    team.run([](run::Comm& comm) {
      const ClockOffset offset = clock_offset(comm, wrong_clock(comm.rank()));
      EXPECT_LE(std::abs(offset.ahead - wrong_by(comm.rank())), offset.uncertainty) << "rank " << comm.rank();
      EXPECT_LT(offset.uncertainty, 100 * kSecond);
      EXPECT_EQ(offset.uncertainty == 0, comm.rank() == 0);
    });
  }
}

TEST(Clocks, ACommonStartOnClocksThatDiffer) {
  threads::Team team(4);
  team.run([](run::Comm& comm) {
    CommonStart start(comm, wrong_clock(comm.rank()), true);
    EXPECT_GT(start.uncertainty(), 0);
    int ran = 0;
    const double span = start.once([&] { ++ran; });
    EXPECT_EQ(ran, 1);
    EXPECT_LT(std::abs(span), 500 * kSecond);  // uncorrected, the latest finish would be a thousand seconds away
  });
}

TEST(Clocks, ThatRunApartAreOffByMoreLater) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    constexpr double kFaster = 0.1;  // a rank's clock, for each rank before it
    const double begun = clock_now();
    const auto clock = [&] { return clock_now() + kFaster * comm.rank() * (clock_now() - begun); };
    CommonStart start(comm, clock, true);
    const double compared = clock_now();
    const timespec nap{0, static_cast<long>(kLong)};
    nanosleep(&nap, nullptr);
    // Of the last rank; the first comparison may have been off itself.
    const double least = 2 * kFaster * (clock_now() - compared) - start.uncertainty();
    const double off = start.uncertainty_by_now();
    if (comm.rank() == 2) {
      EXPECT_GE(off, least);
    }
  });
}

TEST(Clocks, ARankThatDoesNotAnswerIsNotWaitedForInSilence) {
  threads::Options options;
  options.patience.notice = 0.05;
  threads::Team team(2, options);
  testing::internal::CaptureStderr();
  team.run([](run::Comm& comm) {
    struct stat said {};  // what is captured goes to a file
    while (comm.rank() == 1 && fstat(STDERR_FILENO, &said) == 0 && said.st_size == 0) usleep(1000);
    clock_offset(comm, clock_now);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("rank 0 has waited"), std::string::npos) << said;
}

TEST(Clocks, RanksOfOneHostShareOne) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    CommonStart start(comm);
    EXPECT_EQ(start.uncertainty(), 0);
    EXPECT_GE(start.once([] {}), 0);
  });
}

TEST(Clocks, SeveralCallsAreAgreedAboutTogether) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    CommonStart start(comm);
    std::vector<std::size_t> before, ran, after;
    const auto timed =
        start.several({kShort, kShort, kShort}, {[&](std::size_t i) { before.push_back(i); },
                                                 [&](std::size_t i) {
                                                   ran.push_back(i);
                                                   const timespec nap{0, static_cast<long>(kLong)};
                                                   if (i == 1 && comm.rank() == 2) nanosleep(&nap, nullptr);
                                                 },
                                                 [&](std::size_t i) {
                                                   after.push_back(i);
                                                   return i == 0 ? 0.0 : 10.0 * static_cast<double>(i) + comm.rank();
                                                 }});
    const std::vector<std::size_t> all = {0, 1, 2};
    EXPECT_EQ(before, all);
    EXPECT_EQ(ran, all);
    EXPECT_EQ(after, all);
    ASSERT_EQ(timed.size(), 3U);
    EXPECT_GE(timed[0].span, 0);
    EXPECT_GE(timed[1].span, kLong);           // one rank slept
    EXPECT_GE(timed[2].late, kLong - kShort);  // and so began the next one late
    EXPECT_GE(timed[2].span, timed[2].late);
    EXPECT_EQ(timed[0].worst, 0);
    EXPECT_EQ(timed[1].worst, 12);
    EXPECT_EQ(timed[2].worst, 22);
  });
}

}  // namespace
}  // namespace chasqui::measure
