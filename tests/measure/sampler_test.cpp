// SPDX-License-Identifier: MIT
// The MPI library's calls and ours by turns, on ranks with clocks of their own that pass in calls and by being looked at alone.
#include "measure/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "chasqui/threads/team.hpp"

namespace chasqui::measure {
namespace {

using run::Side;

/// Calls that no rank leaves before all have come.
struct SlowedRival {
  double time = 10'000;  ///< of ours; nanoseconds
  double factor = 1;     ///< the rival's time beyond ours …
  bool odd = false;      ///< … on the odd ranks alone
  double drift = 0;      ///< by so much a call takes longer than the one before
};

/// How many times as long the rival's calls are found to take.
double ratio_of(const SlowedRival& rival, double seconds = 1) {
  constexpr int kRanks = 4;
  std::vector<double> now(kRanks, 0);
  double found = 0;
  threads::Team team(kRanks);
  team.run([&](run::Comm& comm) {
    double& mine = now[static_cast<std::size_t>(comm.rank())];
    Sampler sampler(comm, [&mine] { return mine += 20; });
    sampler.open(seconds * 1e9, false);
    double slower = 1;
    const auto call = [&](Side side) {
      comm.barrier();
      const double last = *std::max_element(now.begin(), now.end());
      comm.barrier();
      const bool other = side == Side::native && (!rival.odd || comm.rank() % 2 == 1);
      mine = last + rival.time * slower * (other ? rival.factor : 1);
      slower *= 1 + rival.drift;
    };
    const auto ratio = sampler.compare(1, true, call, [] {});
    if (comm.rank() == 0) found = ratio.value_or(0);
  });
  return found;
}

TEST(Sampler, FindsHowMuchSlowerARivalIs) {
  for (const double factor : {0.5, 0.8, 1.0, 1.2, 3.0}) EXPECT_NEAR(ratio_of({.factor = factor}), factor, 0.03);
}

/// All wait for the slowest.
TEST(Sampler, ARivalOnSomeRanksCountsWhereItIsSlower) {
  EXPECT_NEAR(ratio_of({.factor = 1.2, .odd = true}), 1.2, 0.03);
  EXPECT_NEAR(ratio_of({.factor = 0.8, .odd = true}), 1, 0.03);
}

TEST(Sampler, DriftHitsBothSidesAlike) {
  for (const double factor : {0.8, 1.0, 1.2}) {
    for (const double drift : {0.01, -0.01}) EXPECT_NEAR(ratio_of({.factor = factor, .drift = drift}), factor, 0.04);
  }
}

/// Where there is no time for blocks a call of each says something.
TEST(Sampler, HasAtLeastAPair) { EXPECT_NEAR(ratio_of({.factor = 1.2}, 1e-4), 1.2, 0.05); }

}  // namespace
}  // namespace chasqui::measure
