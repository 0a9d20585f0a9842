// SPDX-License-Identifier: MIT
#include "plan/published/block_cyclic.hpp"

#include "plan/stream/compose.hpp"

namespace chasqui::plan::stream_detail {

std::optional<std::int64_t> block_cyclic_base(std::int64_t L, std::int64_t limit) {
  Growth f(L, 1);
  f.extend_to(limit + L);
  const auto b = static_cast<std::int32_t>(L - 2);
  std::int64_t good = 0;
  for (std::int64_t t = 2 * L; t < limit + L; ++t) {
    good = direct(f, t, f(t - L), b) ? good + 1 : 0;
    if (good == L) return t - L + 1;
  }
  return std::nullopt;
}

std::optional<Recipe> block_cyclic(std::int64_t L, std::int64_t n) {
  Growth f(L, n);
  const std::int64_t t = f.last();
  if (f(t) != n || L < 3) return std::nullopt;
  const auto b = static_cast<std::int32_t>(L - 2);
  const auto first = block_cyclic_base(L, 6 * L);
  if (first && t >= *first) {
    f.extend_to(*first + L);
    Recipe recipe{L, t, {}, b};
    return add_full_trees(recipe, f, {{{t, 0}, 1}}, *first, b, Shift::none) ? std::optional(recipe) : std::nullopt;
  }
  auto base = direct(f, t, f(t - L), b);
  if (!base) base = direct(f, t, f(t - L), std::nullopt);
  return base ? std::optional(alone(*base, L, t)) : std::nullopt;
}

std::optional<Recipe> pruned_two(std::int64_t n) {
  Growth f(2, n);
  const std::int64_t t = f.last() + 1;
  if (f(t - 1) != n || n < 3) return std::nullopt;
  f.extend_to(t);
  const auto nodes = [&](std::int64_t r) { return r <= t - 1 ? f.at_label(t - 1 - r) : 0; };
  Heads fixed;
  std::int64_t removed = 0;
  for (std::int64_t r = 4; r <= t - 1; ++r) {
    if (nodes(r) == 0) continue;
    fixed[{r, 2}] = nodes(r);
    removed += 2 * nodes(r);
  }
  const std::int64_t s = f(t) - n;
  for (std::int64_t threes = 0; threes <= nodes(3); ++threes) {
    for (std::int64_t twos = 0; twos <= nodes(2); ++twos) {
      const std::int64_t ones = s - removed - 2 * threes - twos;
      if (ones < 0 || ones > nodes(1)) continue;
      Heads heads = fixed;
      const auto put = [&](std::int64_t r, std::int64_t missing, std::int64_t count) {
        if (count > 0) heads[{r, missing}] = count;
      };
      put(3, 2, threes);
      put(3, 0, nodes(3) - threes);
      put(2, 1, twos);
      put(2, 0, nodes(2) - twos);
      put(1, 0, nodes(1) - ones);
      const auto base = balance_tree(2, t, heads, std::nullopt, 4);
      if (base) return alone(*base, 2, t);
    }
  }
  return std::nullopt;
}

}  // namespace chasqui::plan::stream_detail
