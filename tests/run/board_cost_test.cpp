// SPDX-License-Identifier: MIT
#include "run/choose/board_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "run/choose/lane_cost.hpp"
#include "run/messages/lanes.hpp"

namespace chasqui::run {
namespace {

/// Four processes of one node: ours 1 us + 1 ns a byte; the library's own half as long from 64 KiB on.
Profile measured() {
  Profile profile = default_profile();
  for (Level& level : profile.levels) level.ranks = 4;
  for (const std::int64_t m : {8, 1024, 65'536, 1 << 20}) {
    profile.measured["broadcast"].emplace_back(m, 1000.0 + static_cast<double>(m));
    profile.native["broadcast"].emplace_back(m, (1000.0 + static_cast<double>(m)) * (m >= 65'536 ? 0.5 : 0.95));
  }
  return profile;
}

Topology four() {
  Topology topology;
  topology.ranks = topology.largest_node = 4;
  topology.board = true;
  return topology;
}

TEST(Predict, MeasuredSizesJoinedByStraightLines) {
  const Times times = {{8, 100}, {108, 200}, {1108, 700}};
  EXPECT_EQ(at_size(times, 0), 100);
  EXPECT_EQ(at_size(times, 8), 100);
  EXPECT_EQ(at_size(times, 58), 150);
  EXPECT_EQ(at_size(times, 108), 200);
  EXPECT_EQ(at_size(times, 608), 450);
  EXPECT_EQ(at_size(times, 2108), 1200);
  EXPECT_EQ(at_size({{0, 50}}, 10), 50);
  EXPECT_EQ(at_size({{8, 100}, {16, 60}}, 1000), 60) << "no time falls for ever";
}

TEST(Predict, WhatWasMeasuredIsWhatIsPredicted) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{5000}, std::size_t{2} << 20}) {
    const auto list = choices({Kind::broadcast, bytes, 8, true}, four(), measured());
    const auto board = std::find_if(list.begin(), list.end(), [](const Choice& c) {
      return c.method == Method::slots || c.method == Method::staged;
    });
    ASSERT_NE(board, list.end());
    EXPECT_NEAR(board->nanoseconds, 1000 + static_cast<double>(bytes), 1e-6 * static_cast<double>(bytes));
  }
}

/// Messages of ranks that share a board go through the same memory.
TEST(Predict, NothingIsPredictedFasterThanWhatIsTaken) {
  for (const bool threads : {false, true}) {
    for (const int ranks : {2, 3, 4, 8, 16, 64}) {
      Topology topology;
      topology.ranks = topology.largest_node = ranks;
      topology.board = true;
      topology.shares_memory = threads;
      topology.native = false;
      for (const Kind kind : {Kind::broadcast, Kind::scatter, Kind::gather, Kind::allgather, Kind::reduce,
                              Kind::allreduce, Kind::scan, Kind::barrier, Kind::alltoall, Kind::reduce_scatter}) {
        for (const std::size_t bytes : {8, 64, 256, 1024, 4096, 65'536, 1 << 20, 16 << 20}) {
          const Query query{kind, bytes, 8, true};
          const auto list = choices(query, topology, default_profile());
          for (const Choice& other : list)
            EXPECT_GE(other.nanoseconds, list[0].nanoseconds) << explain(query, topology, default_profile());
        }
      }
    }
  }
}

TEST(Predict, ThreadsToo) {
  Profile profile = measured();
  profile.levels[0].threads = true;
  Topology topology = four();
  topology.shares_memory = true;
  for (const std::size_t bytes : {8, 64, 1024}) {
    const auto list = choices({Kind::broadcast, bytes, 8, true}, topology, profile);
    const auto board = std::find_if(list.begin(), list.end(), [](const Choice& c) {
      return c.method == Method::slots || c.method == Method::direct;
    });
    ASSERT_NE(board, list.end());
    EXPECT_NEAR(board->nanoseconds, 1000 + static_cast<double>(bytes), 1e-3);
  }
}

TEST(Predict, TheLibrarysOwnOnlyWhereItWasMeasuredClearlyFaster) {
  const auto chosen = [](std::size_t bytes, const Topology& topology, const Profile& profile) {
    return choices({Kind::broadcast, bytes, 8, true}, topology, profile).front().method;
  };
  EXPECT_EQ(chosen(1 << 20, four(), measured()), Method::native);
  EXPECT_EQ(chosen(100'000, four(), measured()), Method::native);
  EXPECT_EQ(chosen(8192, four(), measured()), Method::slots) << "one side of it was not clearly faster";
  EXPECT_EQ(chosen(30'000, four(), measured()), Method::staged) << "likewise";
  EXPECT_EQ(chosen(512, four(), measured()), Method::slots) << "five per cent are noise";
  Topology eight = four();
  eight.ranks = eight.largest_node = 8;
  for (const Choice& choice : choices({Kind::broadcast, 1 << 20, 8, true}, eight, measured())) {
    EXPECT_NE(choice.method, Method::native) << "it was measured on four ranks, not on eight";
  }
  Profile unmeasured = measured();
  unmeasured.native.clear();
  EXPECT_EQ(chosen(1 << 20, four(), unmeasured), Method::staged);
}

TEST(Predict, TheLibrarysOwnOnlyWhereItCanCount) {
  Profile profile = measured();
  profile.measured["gather"] = profile.measured["broadcast"];
  profile.native["gather"] = profile.native["broadcast"];
  const auto native = [&](Kind kind, std::size_t bytes) {
    const auto list = choices({kind, bytes, 1, true}, four(), profile);
    return std::any_of(list.begin(), list.end(), [](const Choice& choice) { return choice.method == Method::native; });
  };
  EXPECT_TRUE(native(Kind::broadcast, 0x7FFF'FFFF));
  EXPECT_FALSE(native(Kind::broadcast, 0x8000'0000));
  EXPECT_FALSE(native(Kind::broadcast, (std::size_t{1} << 32) + 16));
  EXPECT_TRUE(native(Kind::gather, 0x1FFF'FFFF));
  EXPECT_FALSE(native(Kind::gather, 0x2000'0000)) << "four blocks";
}

TEST(Predict, OtherRanksScaleTheMeasuredTime) {
  const Profile profile = measured();
  const double at4 = board_time(profile, Kind::scan, 65'536, 4, false);
  EXPECT_GT(board_time(profile, Kind::scan, 65'536, 8, false), at4);
  const double broadcast4 = board_time(profile, Kind::broadcast, 65'536, 4, false);
  EXPECT_NEAR(board_time(profile, Kind::broadcast, 65'536, 16, false), broadcast4, 0.01 * broadcast4)
      << "all read at once";
  EXPECT_NE(board_time(profile, Kind::broadcast, 65'536, 4, true), broadcast4) << "threads were not measured";
}

/// On machines that nobody has measured, slow and fast boards.
TEST(Predict, GuessesAgreeWithThemselves) {
  constexpr Kind kinds[] = {Kind::broadcast, Kind::scatter,  Kind::gather,         Kind::allgather, Kind::reduce,
                            Kind::allreduce, Kind::alltoall, Kind::reduce_scatter, Kind::scan};
  constexpr double kRounding = 1 + 1e-9;
  for (const double slow : {0.2, 1., 5.}) {
    Profile profile = default_profile();
    for (Level& level : profile.levels) {
      level.publish.value *= slow;
      level.copy.value /= slow;
    }
    for (const int ranks : {2, 3, 16, 64}) {
      for (const bool threads : {false, true}) {
        const auto time = [&](Kind kind, double bytes) { return board_time(profile, kind, bytes, ranks, threads); };
        for (double bytes = 8; bytes <= 1 << 20; bytes *= 2) {
          for (const Kind kind : kinds) {
            EXPECT_LE(time(kind, bytes), kRounding * time(kind, 2 * bytes)) << to_string(kind) << " " << bytes;
            EXPECT_LE(time(kind, 2 * bytes), kRounding * 2 * time(kind, bytes)) << to_string(kind) << " " << bytes;
          }
          EXPECT_LE(time(Kind::reduce, bytes), kRounding * time(Kind::allreduce, bytes)) << bytes;
          EXPECT_LE(time(Kind::allreduce, bytes),
                    kRounding * (time(Kind::reduce, bytes) + time(Kind::broadcast, bytes)))
              << bytes;
        }
      }
    }
  }
}

/// On lanes a board's time is divided between who publishes and who reads as it was measured.
TEST(LaneCost, PublishingAndReadingAreDividedAsMeasured) {
  Topology topology;
  topology.ranks = 64;
  topology.nodes = 16;
  topology.largest_node = topology.smallest_node = 4;
  topology.board = true;
  const Query query{.kind = Kind::broadcast, .bytes = 8};
  Profile profile = default_profile();
  EXPECT_EQ(lane_costs(query, topology, profile).read_share, 0.5) << "nobody has measured it";
  profile.levels[0].write = Estimate::exactly(300);
  profile.levels[0].read = Estimate::exactly(100);
  const LaneCosts costs = lane_costs(query, topology, profile);
  EXPECT_EQ(costs.read_share, 0.25);
  const Nodes nodes = Cluster::uniform(16, 4, {1, Time{1}, Time{1}, Time{1}}, {}, {}, {}).nodes;
  const LanePlan plan = lane_plan(Kind::broadcast, nodes, 0, costs);
  ASSERT_TRUE(plan.plan);
  EXPECT_NEAR(static_cast<double>(plan.plan->nodes().publish.ticks),
              3.0 * static_cast<double>(plan.plan->nodes().read.ticks), 4);
}

}  // namespace
}  // namespace chasqui::run
