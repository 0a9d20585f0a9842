// SPDX-License-Identifier: MIT
#include "run/board/affordable.hpp"

#include <algorithm>

namespace chasqui::run {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kUsualStage = kMiB;
constexpr std::size_t kAllRings = 64 * kMiB;  ///< of one board
constexpr std::size_t kBoardsWithRings =
    128 * kMiB;  ///< bytes of all boards, from which on there are no further ones with rings
constexpr std::size_t kLeastFull = 128 * kMiB, kMostFull = 512 * kMiB;  ///< so too for stages of usual length

}  // namespace

BoardShape affordable_shape(int ranks, std::size_t ring, const BoardMemory& memory) {
  const std::size_t full = std::clamp(memory.free / 64, kLeastFull, kMostFull);
  const auto fits = [&](const BoardShape& shape, std::size_t all) {
    return shape.bytes() <= memory.free / 2 && memory.held + shape.bytes() <= all;
  };
  auto shape = BoardShape::for_ranks(ranks, std::clamp(ring, kShortStage, kUsualStage));
  if (!fits(shape, full))
    return BoardShape::for_ranks(ranks, memory.held < full + full / 4 ? kShortStage : kLeastStage, kShortWide);
  const std::size_t most = std::min(kAllRings, memory.cache / 4) / static_cast<std::size_t>(ranks);
  for (std::size_t each = ring; each > shape.stage; each /= 2) {
    BoardShape longer = shape;
    longer.ring = each;
    if (each <= most && fits(longer, kBoardsWithRings)) return longer;
  }
  return shape;
}

}  // namespace chasqui::run
