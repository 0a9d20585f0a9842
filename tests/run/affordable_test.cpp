// SPDX-License-Identifier: MIT
#include "run/board/affordable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace chasqui::run {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kRing = 4 * kMiB;

/// The boards of so many communicators, made one after the other and kept.
std::vector<BoardShape> boards_of(int communicators, int ranks, std::size_t free, std::size_t cache) {
  std::vector<BoardShape> made;
  BoardMemory memory{free, 0, cache};
  for (int i = 0; i < communicators; ++i) {
    made.push_back(affordable_shape(ranks, kRing, memory));
    memory.held += made.back().bytes();
    memory.free -= std::min(memory.free, made.back().bytes());
  }
  return made;
}

TEST(Affordable, TheFirstHasTheWholeRing) {
  EXPECT_EQ(boards_of(1, 16, 65536 * kMiB, 300 * kMiB).front().stage_room(), kRing);
  EXPECT_EQ(boards_of(1, 16, 65536 * kMiB, 0).front().stage_room(), kMiB) << "no cache is known";
  EXPECT_EQ(boards_of(1, 16, 65536 * kMiB, 128 * kMiB).front().stage_room(), 2 * kMiB) << "a quarter of the cache";
}

TEST(Affordable, TwentyCommunicatorsOfALargeNodeHaveStagesOfUsualLength) {
  for (const BoardShape& shape : boards_of(20, 16, 65536 * kMiB, 300 * kMiB)) EXPECT_GE(shape.stage_room(), kMiB);
}

TEST(Affordable, NoLaterOneHasMoreAndAllTogetherKeepToTheirBound) {
  for (const std::size_t free : {64 * kMiB, 512 * kMiB, 16384 * kMiB, 1048576 * kMiB}) {
    for (const int ranks : {1, 2, 7, 16, 64, 200}) {
      std::size_t held = 0, before = ~std::size_t{0};
      const auto least = BoardShape::for_ranks(ranks, kLeastStage, kShortWide);
      for (const BoardShape& shape : boards_of(300, ranks, free, 64 * kMiB)) {
        EXPECT_LE(shape.stage_room(), before) << ranks << " ranks, free " << free << ", held " << held;
        before = shape.stage_room();
        if (before > kLeastStage) {
          EXPECT_LE(held, 640 * kMiB) << ranks << " ranks, free " << free;
        } else {
          EXPECT_EQ(shape.bytes(), least.bytes());
        }
        held += shape.bytes();
      }
    }
  }
}

TEST(Affordable, HalfOfWhatIsFreeIsLeftDownToShortStages) {
  for (std::size_t free = kMiB; free <= 512 * kMiB; free *= 2) {
    const auto shape = affordable_shape(16, kRing, {free, 0, 300 * kMiB});
    if (shape.stage > std::size_t{256} * 1024) {
      EXPECT_LE(shape.bytes(), free / 2);
    }
  }
}

}  // namespace
}  // namespace chasqui::run
