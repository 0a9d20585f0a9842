// SPDX-License-Identifier: MIT
#include "plan/stream/latency_one.hpp"

#include <algorithm>

#include "chasqui/base/error.hpp"

namespace chasqui::plan::stream_detail {

Recipe latency_one(std::int64_t n) {
  const Growth f(1, n);
  Recipe recipe;
  recipe.t = f.last();
  std::int64_t s = f(recipe.t) - n;
  std::int64_t leaves_made = 0;  // nodes of potential 1 that lose their child
  for (std::int64_t r = recipe.t; r >= 1; --r) {
    const std::int64_t nodes = f.at_label(recipe.t - r);
    std::int64_t pruned = r > 1 ? std::min(nodes, s / (r - 1)) : leaves_made + s;
    CHASQUI_CHECK(pruned <= nodes, "latency_one: n={} r={} pruned={} nodes={}", n, r, pruned, nodes);
    if (r > 1) {
      s -= pruned * (r - 1);
      leaves_made += pruned * (r - 2);
    }
    const auto q = static_cast<std::int32_t>(r);
    const auto block = [&](std::int32_t ranks, std::int64_t missing, std::int32_t y) {
      BlockType type{r, missing, ranks, {}};
      if (ranks > 1) type.letters[y] = ranks - 1;
      return type;
    };
    if (nodes > pruned) recipe.blocks[block(q, 0, 0)] = nodes - pruned;
    if (pruned > 0 && r > 1) recipe.blocks[block(q - 1, 1, -1)] = pruned;
  }
  CHASQUI_CHECK(s == 0 || s == 1, "latency_one: n={} left={}", n, s);
  recipe.receive_only = s == 1 ? -1 : 0;
  return recipe;
}

}  // namespace chasqui::plan::stream_detail
