// SPDX-License-Identifier: MIT
#include "forge/search.hpp"

#include "forge/colours.hpp"
#include "forge/rings.hpp"
#include "forge/tree.hpp"

namespace chasqui::forge {

std::optional<Kernel> search(std::int64_t M, std::int64_t L, std::int64_t attempts, std::uint64_t seed,
                             std::int64_t moves) {
  const Counting counting = count(M, L);
  const int latency = static_cast<int>(L);
  const std::int64_t circle_moves = 2000 * (M + 1);
  const std::int64_t colour_moves = 20000 + 200 * M * (counting.k_star + 1);
  for (std::int64_t attempt = 0; attempt < attempts; ++attempt) {
    for (int j = 0; j < (counting.slack == 0 ? 1 : 2); ++j) {
      Random random(seed + 0x100000001b3ULL * static_cast<std::uint64_t>((M * 64 + L) * 2 + j) +
                    0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(attempt + 1));
      moves -= circle_moves;
      if (moves < 0) return std::nullopt;
      const auto tree = random_tree(counting, j, counting.slack, random);
      if (!tree) continue;
      auto group = arrange_on_circle(*tree, latency, circle_moves, random);
      if (!group) continue;
      Kernel kernel{static_cast<int>(M), latency, j, {std::move(*group)}, {}};
      for (int tries = 0; tries < 5; ++tries) {
        moves -= colour_moves;
        if (moves < 0) return std::nullopt;
        if (colour_endgame(kernel, colour_moves, random)) return kernel;
      }
    }
  }
  return std::nullopt;
}

}  // namespace chasqui::forge
