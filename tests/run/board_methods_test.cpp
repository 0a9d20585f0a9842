// SPDX-License-Identifier: MIT
#include "run/choose/board_methods.hpp"

#include <gtest/gtest.h>

#include "run/board/shape.hpp"
#include "run/choose/level_cost.hpp"

namespace chasqui::run {
namespace {

constexpr Kind kKinds[] = {Kind::broadcast, Kind::scatter,   Kind::gather, Kind::allgather,
                           Kind::reduce,    Kind::allreduce, Kind::scan};

TEST(BoardMethods, NoOtherMethodIsPredictedFasterThanTheOneTaken) {
  for (const bool threads : {false, true}) {
    for (const double each : {5., 16., 40., 200.}) {
      for (const int ranks : {2, 3, 7, 16, 64}) {
        const LineCosts costs{ranks, 400, each};
        const BoardMethods methods(costs, kWide, threads);
        for (const Kind kind : kKinds) {
          const std::size_t blocks = kind == Kind::scatter ? static_cast<std::size_t>(ranks) : 1;
          for (std::size_t slot = 128; slot <= kWide; slot += kLine) {
            if (slot % blocks != 0) continue;
            const Method method = *methods.of(kind, slot / blocks, 1);
            if (method == Method::exposed_fold) continue;
            if (method == Method::direct || method == Method::staged)
              break;  // and stays: there are no islands of slots
            const auto time = [&](Method other) {
              return beside_lines_time(costs, other, kind, static_cast<double>(slot));
            };
            EXPECT_LE(time(method), time(threads ? Method::direct : Method::staged));
            if (threads && kind == Kind::allreduce) {
              EXPECT_LE(time(method), time(Method::exposed_fold));
            }
            EXPECT_LE(time(method), time(Method::slots));
            if (kind == Kind::reduce || kind == Kind::allreduce) {
              EXPECT_LE(time(method), time(Method::shared_fold));
              if (kind == Kind::allreduce && ranks > 2 && methods.groups().folds[2].size != 0 &&
                  slot <= 19 * kLinePayload) {
                EXPECT_LE(time(method), time(Method::grouped_fold));
              }
            }
            EXPECT_TRUE(method == Method::slots || kind == Kind::reduce || kind == Kind::allreduce)
                << "only folds are shared";
          }
        }
      }
    }
  }
}

/// A machine of two says little of what lines of data cost when many read them: `each` is measured between them as one whole line.
TEST(BoardMethods, TwoRanksHaveCostsOfTheirOwn) {
  for (const double each : {16., 140.}) {
    for (const Kind kind : kKinds) {
      const auto method = [&](std::size_t bytes, bool threads) {
        return *BoardMethods({2, 400, each}, kWide, threads).of(kind, bytes, 1);
      };
      const std::size_t blocks = kind == Kind::scatter ? 2 : 1;  // of a slot
      EXPECT_EQ(method(1024 / blocks, true), Method::slots) << to_string(kind);
      if (kind != Kind::scan && kind != Kind::allreduce) {
        EXPECT_EQ(method(kWide, true), Method::direct) << to_string(kind);
      }
      EXPECT_EQ(method(kWideFromAll, false), Method::slots) << to_string(kind);
      EXPECT_EQ(method(kWide + 1, false), Method::staged) << to_string(kind);
    }
    EXPECT_EQ(*BoardMethods({2, 400, each}, kWide, false).of(Kind::gather, kShortWide, 1), Method::slots);
    EXPECT_EQ(*BoardMethods({2, 400, each}, kWide, true).of(Kind::allreduce, kWide, 1), Method::exposed_fold);
  }
}

TEST(BoardMethods, WhatIsMeasuredDecides) {
  const auto method = [](double publish, double each, Kind kind, std::size_t bytes, bool threads) {
    return *BoardMethods({16, publish, each}, kWide, threads).of(kind, bytes, 1);
  };
  EXPECT_EQ(method(400, 16, Kind::broadcast, 1024, true), Method::slots);
  EXPECT_EQ(method(400, 16, Kind::allgather, 256, true), Method::slots);
  EXPECT_EQ(method(400, 16, Kind::allgather, 1024, true), Method::direct) << "all lines of all, read by all";
  EXPECT_EQ(method(4000, 16, Kind::allgather, 1024, true), Method::slots) << "handshakes are dear";
  EXPECT_EQ(method(400, 16, Kind::allreduce, 512, true), Method::grouped_fold);
  EXPECT_EQ(method(400, 16, Kind::allreduce, 2048, true), Method::exposed_fold) << "only results go onto the board";
  EXPECT_EQ(method(400, 16, Kind::allreduce, 16 * kWide, true), Method::exposed_fold);
  EXPECT_EQ(method(400, 16, Kind::allreduce, 16 * kWide + 1, true), Method::direct) << "a share that fits no slot";
  for (const std::size_t bytes : {128, 256, 512, 1024}) {
    EXPECT_EQ(method(400, 16, Kind::allreduce, bytes, false), Method::grouped_fold) << "value and number in each line";
  }
  for (const std::size_t bytes : {std::size_t{2048}, std::size_t{4096}, kSharedByAll}) {
    EXPECT_EQ(method(400, 16, Kind::allreduce, bytes, false), Method::shared_fold) << "few bytes for each";
  }
  for (const std::size_t bytes : {128, 512, 1024}) {
    EXPECT_EQ(method(400, 16, Kind::reduce, bytes, false), Method::slots) << "a root folds while others are late";
  }
  EXPECT_EQ(method(400, 16, Kind::allreduce, kSharedByAll + 1, false), Method::staged);
  EXPECT_EQ(method(400, 16, Kind::reduce, 2048, false), Method::shared_fold);
  EXPECT_EQ(method(400, 16, Kind::reduce, kWide, false), Method::shared_fold);
  EXPECT_EQ(method(400, 16, Kind::reduce, kWide + 1, false), Method::staged);
  EXPECT_EQ(method(400, 25, Kind::broadcast, kWide, false), Method::slots);
  EXPECT_EQ(method(400, 25, Kind::broadcast, kWide + 1, false), Method::staged);
  EXPECT_EQ(method(400, 25, Kind::gather, kWideFromAll, false), Method::slots);
  EXPECT_EQ(method(400, 25, Kind::gather, kWideFromAll + 1, false), Method::staged);
  EXPECT_EQ(method(400, 25, Kind::allgather, 512, false), Method::slots);
  EXPECT_EQ(method(400, 25, Kind::allgather, 1024, false), Method::staged) << "all lines of all";
  EXPECT_EQ(method(400, 16, Kind::reduce, kWide + 1, true), Method::direct);
  EXPECT_EQ(method(400, 25, Kind::allreduce, 8, false), Method::slots) << "one line each: everybody reads all";
  EXPECT_EQ(method(400, 25, Kind::allreduce, 64, false), Method::grouped_fold);
  EXPECT_EQ(method(400, 25, Kind::reduce, 64, false), Method::grouped_fold);
  EXPECT_EQ(method(1, 1000, Kind::barrier, 0, false), Method::grouped_fold);
}

LineCosts costs_of(int ranks, const char* levels, double publish, double each,
                   std::array<double, kSharedKinds> inside) {
  return {ranks, publish, each, nearness_of(*made_up_seats(levels, ranks)), inside};
}

/// Everything inside a cache takes so much of what it takes between them, of all else that is shared, half of what is left.
LineCosts with_caches(int ranks, const char* levels, double near) {
  return costs_of(ranks, levels, 400, 16, {near / 2, near, near, (1 + near) / 2, (1 + near) / 2});
}

TEST(BoardMethods, FoldsGoByLevels) {
  constexpr int kRanks = 64;
  const LineCosts alike{kRanks, 400, 16};
  for (const char* levels : {"l3:2", "l3:8", "socket:2 l3:4", "socket:2 l3:2 core:8"}) {
    const LineCosts costs = with_caches(kRanks, levels, 0.4);
    const BoardMethods methods(costs, kWide, false);
    EXPECT_EQ(*methods.of(Kind::allreduce, 8, 8), Method::level_fold) << levels;
    EXPECT_EQ(*methods.of(Kind::allreduce, 112, 8), Method::level_fold) << levels;
    EXPECT_EQ(*methods.of(Kind::barrier, 0, 1), Method::level_fold) << levels;
    for (const int lines : {1, 2, 19}) {
      const Climb& climb = methods.groups().climb(lines);
      const double time = climb_time(costs, lines, climb, true);
      EXPECT_LE(climb.sets(), line_sets(lines, true));
      if (lines <= 2) {
        EXPECT_LT(time, grouped_fold_time(alike, lines, best_groups(alike, lines)))
            << levels << ", " << lines << " lines";
      }
      for (unsigned up = 1; up < 1u << costs.near->levels().size(); ++up) {
        const Climb other{up};
        if (other.sets() > line_sets(lines, true)) continue;
        EXPECT_LE(time, climb_time(costs, lines, other, true)) << up;
      }
    }
  }
  const LineCosts far = with_caches(kRanks, "socket:2 l3:4", 1);
  EXPECT_EQ(*BoardMethods(far, kWide, false).of(Kind::broadcast, 8, 1), Method::slots) << "nothing is nearer";
  EXPECT_EQ(*BoardMethods(far, kWide, false).of(Kind::reduce, 8, 8), Method::slots);
}

/// As before there were levels: nothing about a board of one cache depends on them.
TEST(BoardMethods, OneCacheHasNoLevels) {
  for (const int ranks : {2, 4, 16, 64}) {
    const BoardMethods methods({ranks, 400, 16}, kWide, false);
    EXPECT_EQ(methods.groups().relay, 0u);
    for (const int lines : {1, 2, 19}) EXPECT_EQ(methods.groups().climb(lines), Climb{});
    EXPECT_EQ(nearness_of(*made_up_seats("socket:1 l3:1", ranks)), nullptr);
  }
}

/// With the guesses, half a cache line's way saved or not, sixteen ranks on two caches are few.
TEST(BoardMethods, LevelsByMadeUpCosts) {
  const auto climb = [](const LineCosts& costs) { return BoardMethods(costs, kWide, false).groups().climb(1); };
  // Far lines cost a hundred times as much as near ones: each level is climbed, and the total is told by them.
  const Climb steep = climb(costs_of(64, "socket:4 l3:4", 400, 100, {0.01, 0.01, 0.01, 0.1, 0.1}));
  EXPECT_EQ(steep.up, 3u);
  EXPECT_EQ(steep.down & 2u, 2u);
  // Publishing is dear, and reading costs nothing: as few steps as there can be, and nothing is told.
  const Climb flat = climb(costs_of(64, "socket:4 l3:4", 400, 0, {0.9, 0.9, 0.9, 0.9, 0.9}));
  EXPECT_EQ(flat.rungs(), 1);
  EXPECT_EQ(flat.down, 0u);
}

/// Two steps as they were predicted when caches were the only level (docs/laboratory/broadcast.md).
TEST(BoardMethods, ARelayOfOneLevelTakesWhatItsReadersTake) {
  const LineCosts costs = with_caches(64, "l3:8", 0.4);
  EXPECT_DOUBLE_EQ(relay_time(costs, 8), ((8. + 7 + 7) / (8 + 63) + 0.4) * 400);
  const LineCosts two =
      with_caches(64, "socket:2 l3:4", 0.4);  // 1 + 3 + 7 read the root, 3 + 7 the leader of the other socket
  EXPECT_DOUBLE_EQ(relay_time(two, 3, 8), ((8. + 11) / (8 + 63) + 0.7 * (8. + 10) / (8 + 31) + 0.4) * 400);
}

TEST(BoardMethods, BroadcastsAreRelayedWhereThatIsPredictedFaster) {
  const auto method = [](int ranks, int caches, double near, std::size_t bytes) {
    return *BoardMethods(with_caches(ranks, ("l3:" + std::to_string(caches)).c_str(), near), kWide, false)
                .of(Kind::broadcast, bytes, 1);
  };
  EXPECT_EQ(method(64, 8, 0.4, 8), Method::relay);
  EXPECT_EQ(method(64, 8, 0.4, 112), Method::relay);
  EXPECT_EQ(method(64, 8, 0.4, 128), Method::relay);
  EXPECT_EQ(method(64, 8, 0.4, kWide), Method::slots) << "copying twice takes longer";
  EXPECT_EQ(method(64, 8, 0.9, 8), Method::slots) << "near ranks are hardly nearer";
  EXPECT_EQ(method(16, 2, 0.5, 8), Method::slots) << "few readers";
  EXPECT_EQ(*BoardMethods({64, 400, 16}, kWide, false).of(Kind::broadcast, 8, 1), Method::slots) << "one cache";
}

BoardMethods of_processes(int ranks) {
  Topology topology;
  topology.ranks = topology.largest_node = ranks;
  topology.nodes = 1;
  topology.board = true;
  topology.cross_memory = true;
  return BoardMethods(topology, default_profile());
}

// Each method forced on 16 processes (docs/laboratory/all-to-all.md).
TEST(BoardMethods, ExchangesOfSixteenProcessesTakeWhatWasFastest) {
  const BoardMethods methods = of_processes(16);
  const auto method = [&](Kind kind, std::size_t bytes) { return *methods.of(kind, bytes, 8); };
  for (const Kind kind : {Kind::alltoall, Kind::reduce_scatter}) {
    for (const std::size_t bytes : {8, 64, 256}) EXPECT_EQ(method(kind, bytes), Method::slots) << bytes;
    for (const std::size_t bytes : {512, 4096, 16'384}) EXPECT_EQ(method(kind, bytes), Method::staged) << bytes;
  }
  for (const std::size_t bytes : {32'768, 65'536, 262'144, 1'048'576}) {
    EXPECT_EQ(method(Kind::alltoall, bytes), Method::cross_memory) << bytes;
    EXPECT_EQ(method(Kind::reduce_scatter, bytes), Method::staged) << bytes;
  }
}

// The same on fewer (docs/laboratory/memory.md, "Fewer ranks").
TEST(BoardMethods, LongBlocksOfFewProcessesTakeWhatWasFastest) {
  for (const int ranks : {2, 4, 16}) {
    const BoardMethods methods = of_processes(ranks);
    for (const std::size_t bytes : {32'768, 131'072, 524'288}) {
      for (const Kind kind : {Kind::gather, Kind::scatter})
        EXPECT_EQ(*methods.of(kind, bytes, 1), Method::cross_memory) << ranks << " ranks, " << bytes;
      EXPECT_EQ(*methods.of(Kind::allgather, bytes, 1),
                ranks == 2 && bytes > 32'768 ? Method::cross_memory : Method::staged)
          << ranks << " ranks, " << bytes;
      EXPECT_EQ(*methods.of(Kind::alltoall, bytes, 1),
                ranks == 2 && bytes == 32'768 ? Method::staged : Method::cross_memory)
          << ranks << " ranks, " << bytes;
    }
  }
}

TEST(BoardMethods, ElementsThatAMethodCannotHoldTakeTheNext) {
  const BoardMethods processes({16, 400, 16}, kWide, false);
  EXPECT_EQ(processes.of(Kind::allreduce, 112, 8), Method::grouped_fold);
  EXPECT_EQ(processes.of(Kind::allreduce, 112, 16), Method::grouped_fold);
  EXPECT_EQ(processes.of(Kind::allreduce, 112, 112), Method::slots) << "one element does not fit a line";
  EXPECT_EQ(processes.of(Kind::allreduce, 580, 10), Method::grouped_fold);
  EXPECT_EQ(processes.of(Kind::allreduce, 580, 29), Method::slots) << "one element a line: more lines than there are";
  const BoardMethods threads({16, 400, 16}, kWide, true);
  EXPECT_EQ(threads.of(Kind::allreduce, 16 * kWide, 8), Method::exposed_fold);
  EXPECT_EQ(threads.of(Kind::allreduce, 16 * kWide - 16, 24), Method::direct)
      << "whole lines of such elements are longer";
}

TEST(BoardMethods, BoardsOfVeryManyRanksHaveNothingBesideTheLines) {
  EXPECT_EQ(BoardShape::for_ranks(16).wide, kWide);
  EXPECT_EQ(BoardShape::for_ranks(4096).wide, 0u);
  EXPECT_EQ(BoardMethods({4096, 400, 16}, 0, true).of(Kind::broadcast, 128, 1), Method::direct);
}

}  // namespace
}  // namespace chasqui::run
