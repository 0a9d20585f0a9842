// SPDX-License-Identifier: MIT
// Where the stages of a board lie.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "chasqui/run/call.hpp"
#include "run/board/board.hpp"
#include "run/board/collectives.hpp"

namespace chasqui::run {
namespace {

// Two ranks that were seen on one core do not stay there; the kernel may put them anywhere afterwards.
TEST(Board, ARankLeavesTheCoreOfTheOneBeforeIt) {
  const auto cores = [] {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    return set;
  };
  const cpu_set_t before = cores();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "it needs two cores";
  BoardShape shape;
  shape.ranks = 2;
  constexpr std::align_val_t kAlign{4096};
  auto* memory = static_cast<std::byte*>(::operator new(shape.bytes(), kAlign));
  int moved = 0, crowded = 0;
  for (int i = 0; i < 100; ++i) {
    std::fill_n(memory, shape.zeroed(), std::byte{0});
    const bool many = i % 2 != 0;  // more ranks than cores: nobody moves
    Board first(memory, shape, 0, many ? 1 : 2), second(memory, shape, 1, many ? 1 : 2);
    const int here = sched_getcpu();
    first.settle();
    second.settle();
    (many ? crowded : moved) += sched_getcpu() != here ? 1 : 0;
    const cpu_set_t after = cores();
    ASSERT_TRUE(CPU_EQUAL(&before, &after));
  }
  EXPECT_GT(moved, 25);
  EXPECT_LT(crowded, 25);
  ::operator delete(memory, kAlign);
}

// Stages that are filled at one time do not meet, and none leaves the memory.
RC_GTEST_PROP(Stage, ChunksLieApartInsideTheMemory, ()) {
  BoardShape shape;
  shape.ranks = *rc::gen::inRange(1, 9);
  shape.stage = kLine * static_cast<std::size_t>(*rc::gen::inRange(4, 400));
  shape.wide = 0;
  shape.ring = kLine * static_cast<std::size_t>(*rc::gen::inRange(0, 2000));
  const std::size_t chunk =
      kLine * static_cast<std::size_t>(*rc::gen::inRange(1, static_cast<int>(shape.stage / kLine / 4) + 1));
  const auto used = static_cast<std::size_t>(*rc::gen::inRange(0, 200'000));
  constexpr std::align_val_t kAlign{4096};
  auto* memory = static_cast<std::byte*>(::operator new(shape.bytes(), kAlign));
  std::fill_n(memory, shape.zeroed(), std::byte{0});
  Board board(memory, shape, 0, shape.ranks);
  board.stages().divide(chunk, used);
  std::vector<std::pair<const std::byte*, const std::byte*>> chunks;
  std::uint64_t depth = 1;
  while (board.stages().of(0, depth) != board.stages().of(0, 0)) ++depth;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    for (std::uint64_t round = 0; round < depth; ++round) {
      const std::byte* at = board.stages().of(rank, round);
      chunks.emplace_back(at, at + chunk);
    }
  }
  std::sort(chunks.begin(), chunks.end());
  for (std::size_t i = 1; i < chunks.size(); ++i) RC_ASSERT(chunks[i - 1].second <= chunks[i].first);
  RC_ASSERT(chunks.front().first >= memory + shape.zeroed());
  RC_ASSERT(chunks.back().second <= memory + shape.bytes());
  RC_ASSERT(depth >= 4);
  RC_ASSERT(depth * chunk <= std::max(used, 4 * chunk));
  ::operator delete(memory, kAlign);
}

// Stages shrink with the number of ranks, but two rounds always fit: who stages one ahead waits for nobody who waits for it.
TEST(Stage, BoardsOfThousandsOfRanks) {
  constexpr int kPlayers = 3;
  constexpr std::size_t kCount = 5000;
  for (const int ranks : {4096, 4097, 8193, 100'000}) {
    BoardShape shape = BoardShape::for_ranks(ranks);
    shape.ranks = kPlayers;
    std::vector<std::byte> memory(shape.bytes() + kLine);
    auto* at =
        reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + kLine - 1) / kLine * kLine);
    std::vector<std::unique_ptr<Board>> boards;
    for (int r = 0; r < kPlayers; ++r) boards.push_back(std::make_unique<Board>(at, shape, r, 1));
    for (const Kind kind :
         {Kind::broadcast, Kind::allgather, Kind::reduce, Kind::allreduce, Kind::scan, Kind::scatter}) {
      std::vector<std::vector<long>> in(kPlayers, std::vector<long>(kPlayers * kCount, 1)), out = in;
      Sum sum;
      std::vector<std::unique_ptr<Activity>> tasks;
      for (std::size_t r = 0; r < kPlayers; ++r) {
        const Call call{.kind = kind,
                        .in = kind == Kind::broadcast ? nullptr : in[r].data(),
                        .out = out[r].data(),
                        .count = kCount,
                        .element = sizeof(long),
                        .op = operator_of<long>(sum, true)};
        tasks.push_back(std::make_unique<Activity>(staged(*boards[r], call)));
      }
      int left = kPlayers;
      for (int turn = 0; left > 0; ++turn) {
        ASSERT_LT(turn, 10'000) << to_string(kind) << " of a board for " << ranks << " ranks does not end";
        for (auto& task : tasks) {
          if (task == nullptr || !task->poll()) continue;
          task.reset();
          --left;
        }
      }
      EXPECT_EQ(out[0][kCount - 1], kind == Kind::reduce || kind == Kind::allreduce ? kPlayers : 1);
    }
  }
}

}  // namespace
}  // namespace chasqui::run
