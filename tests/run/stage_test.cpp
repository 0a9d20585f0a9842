// SPDX-License-Identifier: MIT
// Where the stages of a board lie.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "run/board/board.hpp"

namespace chasqui::run {
namespace {

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
  board.divide_stage(chunk, used);
  std::vector<std::pair<const std::byte*, const std::byte*>> chunks;
  std::uint64_t depth = 1;
  while (board.stage(0, depth) != board.stage(0, 0)) ++depth;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    for (std::uint64_t round = 0; round < depth; ++round) {
      const std::byte* at = board.stage(rank, round);
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

}  // namespace
}  // namespace chasqui::run
