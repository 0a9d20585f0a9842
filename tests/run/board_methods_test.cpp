// SPDX-License-Identifier: MIT
#include "run/choose/board_methods.hpp"

#include <gtest/gtest.h>

#include "run/board/board.hpp"

namespace chasqui::run {
namespace {

constexpr Kind kKinds[] = {Kind::broadcast, Kind::scatter,   Kind::gather, Kind::allgather,
                           Kind::reduce,    Kind::allreduce, Kind::scan};

TEST(SlotLimits, NoOtherWayIsPredictedFasterThanTheOneTaken) {
  for (const bool threads : {false, true}) {
    for (const double each : {5., 16., 40., 200.}) {
      for (const int ranks : {2, 3, 7, 16, 64}) {
        const LineCosts costs{ranks, 400, each};
        const SlotLimits limits(costs, kWide, threads);
        for (const Kind kind : kKinds) {
          for (std::size_t bytes = 128; bytes <= kWide; bytes += kLine) {
            const Way way = limits.way(kind, bytes);
            if (way == Way::lent) continue;
            if (way == Way::direct || way == Way::staged) break;  // and stays: there are no islands of slots
            const double time = way_time(costs, way, kind, static_cast<double>(bytes));
            EXPECT_LE(time, way_time(costs, threads ? Way::direct : Way::staged, kind, static_cast<double>(bytes)));
            if (threads && kind == Kind::allreduce) {
              EXPECT_LE(time, way_time(costs, Way::lent, kind, static_cast<double>(bytes)));
            }
            EXPECT_LE(time, way_time(costs, Way::slots, kind, static_cast<double>(bytes)));
            EXPECT_TRUE(way == Way::slots || kind == Kind::reduce || kind == Kind::allreduce) << "only folds are dealt";
          }
        }
      }
    }
  }
}

TEST(SlotLimits, WhatIsMeasuredDecides) {
  const auto way = [](double publish, double each, Kind kind, std::size_t bytes, bool threads) {
    return SlotLimits({16, publish, each}, kWide, threads).way(kind, bytes);
  };
  EXPECT_EQ(way(400, 16, Kind::broadcast, 1024, true), Way::slots);
  EXPECT_EQ(way(400, 16, Kind::allgather, 256, true), Way::slots);
  EXPECT_EQ(way(400, 16, Kind::allgather, 1024, true), Way::direct) << "all lines of all, read by all";
  EXPECT_EQ(way(4000, 16, Kind::allgather, 1024, true), Way::slots) << "handshakes are dear";
  EXPECT_EQ(way(400, 16, Kind::allreduce, 256, true), Way::slots);
  EXPECT_EQ(way(400, 16, Kind::allreduce, 1024, true), Way::lent) << "nothing is copied onto the board but results";
  EXPECT_EQ(way(400, 16, Kind::allreduce, 16 * kWide, true), Way::lent);
  EXPECT_EQ(way(400, 16, Kind::allreduce, 16 * kWide + 1, true), Way::direct) << "a share that fits no slot";
  EXPECT_EQ(way(400, 16, Kind::allreduce, 1024, false), Way::dealt);
  EXPECT_EQ(way(400, 16, Kind::reduce, kWide + 1, false), Way::staged);
  EXPECT_EQ(way(400, 16, Kind::reduce, kWide + 1, true), Way::direct);
}

TEST(SlotLimits, BoardsOfVeryManyRanksHaveNothingBesideTheLines) {
  EXPECT_EQ(BoardShape::for_ranks(16).wide, kWide);
  EXPECT_EQ(BoardShape::for_threads(16).wide, kWideOfThreads);
  EXPECT_EQ(BoardShape::for_ranks(4096).wide, 0u);
  EXPECT_EQ(SlotLimits({4096, 400, 16}, 0, true).way(Kind::broadcast, 128), Way::direct);
}

}  // namespace
}  // namespace chasqui::run
