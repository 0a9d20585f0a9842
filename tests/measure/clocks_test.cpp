// SPDX-License-Identifier: MIT
// Clocks that were set wrong on purpose.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "chasqui/threads/team.hpp"
#include "measure/common_start.hpp"

namespace chasqui::measure {
namespace {

constexpr double kSecond = 1e9;

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

TEST(Clocks, RanksOfOneHostShareOne) {
  threads::Team team(3);
  team.run([](run::Comm& comm) {
    CommonStart start(comm);
    EXPECT_EQ(start.uncertainty(), 0);
    EXPECT_GE(start.once([] {}), 0);
  });
}

}  // namespace
}  // namespace chasqui::measure
